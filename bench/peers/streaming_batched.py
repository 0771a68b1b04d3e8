"""mosaicml-streaming as in streaming_iter, with a batch size as people have."""

from __future__ import annotations

from peers.streaming_iter import main

main(64)
