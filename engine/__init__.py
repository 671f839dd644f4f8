"""The engine of Netcanvas: prototxt documents, operator graphs, nets, solvers and the processes that run them.

It knows nothing of Qt and can be used alone, from scripts or the command line.
"""

__version__ = "0.1.0"
