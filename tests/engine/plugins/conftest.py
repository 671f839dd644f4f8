"""The layers of ``reference_layers`` are read by nets, not by pytest."""

collect_ignore = ["reference_layers"]
