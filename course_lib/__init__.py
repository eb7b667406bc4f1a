"""The library of the course *Every Word at Once*: attention, built step by step.

Importing it imports PyTorch and nothing heavier: figures, widgets and checks are
modules that a lesson imports when it needs them.
"""

__version__ = "0.1.0"
