"""How torchrun starts the workers of a node, watches them and joins the nodes: see docs/distributed.md.

agent       the loop of one node: what the nodes agreed on is done, what happens here is said
membership  one node among the others, over a store
rounds      who takes part, with which ranks, and what follows a failure: decided by the node that hosts the store
processes   the workers of one node and one attempt;  commands, functions: how they are started
supervisor  a process that starts commands and ends them all, whatever happens to the agent
output      what workers print, line by line
"""
