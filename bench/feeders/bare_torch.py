"""Nothing but `import torch`: what a loader's memory is counted above."""

from __future__ import annotations

import time

import torch
from loop import Loop

loop = Loop.from_args()
loop.took(len(torch.zeros(1)))
time.sleep(0.2)  # so that its memory is sampled
loop.tell(loop.cost())
