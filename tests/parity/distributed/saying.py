"""Prints whole lines, so that the output of several processes is never mixed within a line.

A line also ends what another process has begun: a package's print() may write a text and its newline separately."""
import os


def say(*words):
    os.write(1, ("\n" + " ".join(map(str, words)) + "\n").encode())
