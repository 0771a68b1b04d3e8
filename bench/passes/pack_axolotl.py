"""fast-axolotl's pack_sequences, which puts an end-of-sequence token behind every document."""

from __future__ import annotations

from fast_axolotl import pack_sequences
from packs import IGNORED, LENGTH, PAD, run

END = 0  # an id that no document has

run(lambda sequences: pack_sequences(sequences, LENGTH, PAD, END, IGNORED), ignored=(IGNORED, END))
