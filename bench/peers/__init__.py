"""The programs weir is compared with, each run as `python -m peers.NAME PATH KIND FORM THREADS [TARGET CODEC]` in a process of its own."""
