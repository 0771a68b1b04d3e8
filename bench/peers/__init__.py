"""The programs weir is compared with, each run as `python -m peers.NAME PATH KIND THREADS` in a process of its own."""
