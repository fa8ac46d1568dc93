"""Prints whole lines, so that the output of several processes is never mixed within a line."""
import os


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())
