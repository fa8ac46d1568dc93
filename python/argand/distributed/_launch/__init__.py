"""How torchrun starts the workers of a node, watches them and joins the nodes: see docs/distributed.md.

agent       the loop of one node: it carries out what the nodes agreed on, and reports what happens on this node
membership  how one node talks to the others, over a store
rounds      which nodes take part, with which ranks, and what follows a failure: decided by the node that hosts the store
processes   the workers of one node and one attempt;  commands, functions: how they are started
supervisor  a process that starts commands and ends them all, whatever happens to the agent
output      what workers print, line by line
"""
