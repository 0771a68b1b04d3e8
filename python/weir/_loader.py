"""Batches for training, epoch after epoch, in an order that can be gone on with from any batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.context import get_spawning_popen
from time import perf_counter
from types import TracebackType
from typing import Any

from . import _ahead, _output, _state
from ._binary import binary
from ._errors import Error, translate
from ._ranks import Place, in_worker, place
from ._report import MUCH, Meter, Report, warn
from ._state import BEGINNING, At
from ._transport import Batch, End, Transport, TransportError
from ._workers import Epochs


@dataclass(frozen=True)
class Settings:
    """What a loader was asked for."""

    config: Mapping[str, Any]  # of the child, without the place
    output: str
    rank: int | None
    world: int | None
    device: str | None
    pin_memory: bool


class Loader:
    """Batches of a dataset for training; made by weir.loader.

    Every iteration is an epoch: the first is epoch 0, or that which set_epoch or load_state_dict says, the next one the epoch after it,
    also when the one before was left early. A loader has one process behind it, and one iteration at a time.
    """

    def __init__(self, settings: Settings, at: At = BEGINNING, shared: Epochs | None = None) -> None:
        self._settings = settings
        self._next = at  # where the next iteration begins
        self._at: At | None = None  # what has been taken of the present one; None: nothing since the next one was decided
        self._forced = False  # next was loaded in this worker of a DataLoader
        self._shared = shared if shared or settings.output != "torch" else Epochs()
        self._transport: Transport | None = None
        self._where = Place()
        self._turn = 0  # counts iterations, of which the last is the one that runs
        self._meter = Meter(at.epoch, 0.0)
        self._repeated = 0
        self._gpu: _ahead.Gpu | None = None

    def __iter__(self) -> Iterator[Any]:
        return self._iterate(self._settings.output)

    def __len__(self) -> int:
        """Batches of a whole epoch; in a worker of a DataLoader, those of its share."""
        return int(self._describe()["batches"])

    @property
    def rows(self) -> int:
        """Samples of an epoch, of all ranks together."""
        return int(self._describe()["rows"])

    @property
    def features(self) -> list[str]:
        """The columns of the matrix, or all columns where there is none."""
        said = self._describe()
        return list(said.get("features") or said["columns"])

    @property
    def repeated(self) -> int:
        """How many rows, the last ones, of the last batch given are also in another rank's: the end of an epoch without drop_last."""
        return self._repeated

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration that epoch. One that load_state_dict has gone into the middle of stays there."""
        if epoch != self._next.epoch or self._read_by_workers():
            self._next = At(epoch, 0)
        self._at = None
        if self._shared:
            self._shared.set(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is: behind the last batch given, whatever has been read ahead. A few hundred bytes."""
        if self._read_by_workers():
            raise Error(
                "workers of a DataLoader read this loader, and only they know where they are: use torchdata's StatefulDataLoader and its "
                "state_dict, or iterate over the loader itself, which needs no workers"
            )
        return _state.write(self._at or self._start(), self._fixed())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next iteration go on behind the batch after which state was taken.

        The number of ranks, the batch size, memory and threads may be others than then; another dataset, seed or window is a ValueError.
        """
        at = _state.read(state, self._fixed())
        self._next, self._at = at, None
        self._turn += 1
        me = in_worker()
        self._forced = me is not None
        if self._shared and me:
            # If this worker is at its end, the process that comes after it begins the next epoch.
            self._shared.put(*me, at.epoch + (at.position >= self.rows))
        elif self._shared:
            self._shared.set(at.epoch)

    def report(self) -> Report:
        """How long the model waited for batches in this epoch or the last, and what was slow."""
        said = {}
        if self._transport and self._meter.batches:
            try:
                said = self._transport.report()
            except TransportError as error:
                raise translate(error) from None
        return self._meter.report(said)

    def keras(self) -> Any:
        """What Keras' fit, evaluate and predict take, for the backend in use. Every epoch of fit is one of the loader."""
        from ._keras import for_keras  # noqa: PLC0415 - only where it is wanted

        return for_keras(self)

    def tf_dataset(self) -> Any:
        """A tf.data.Dataset of the batches. TensorFlow copies them, and reads ahead: state_dict is where TensorFlow is, not the model."""
        from ._keras import tf_dataset  # noqa: PLC0415 - only where it is wanted

        return tf_dataset(self)

    def close(self) -> None:
        """Ends the process behind the loader. Batches stay valid; another iteration starts another process."""
        transport, self._transport = self._transport, None
        self._turn += 1
        if transport:
            transport.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Configuration and state; where a process is being started with it, it goes on to count epochs with this one."""
        where = place(self._settings.rank, self._settings.world)
        settings = replace(self._settings, rank=where.rank, world=where.world)
        return rebuild, (settings, self._at or self._next, self._shared if get_spawning_popen() else None)

    def _iterate(self, output: str) -> Epoch:
        return Epoch(self, output)

    def _open(self) -> Transport:
        """The transport for this process's place."""
        where = place(self._settings.rank, self._settings.world)
        if self._transport is None or where != self._where:
            self.close()
            if where.workers > 1 and self._settings.device:
                raise Error(f"device={self._settings.device!r} cannot be reached from a worker of a DataLoader: leave one of both out")
            self._transport = Transport([binary(), "feed"], {**self._settings.config, **where._asdict()})
            self._where = where
        return self._transport

    def _describe(self) -> Any:
        try:
            return self._open().describe()
        except TransportError as error:
            raise translate(error) from None

    def _fixed(self) -> dict[str, Any]:
        """What a state must have in common with the loader that it is loaded into."""
        said, config = self._describe(), self._settings.config
        return {
            "shuffle": config["shuffle"],
            "seed": config["seed"],
            "window": config["window"],
            "rows": said["rows"],
            "digest": said["digest"],
            "worker": self._where.worker,
            "workers": self._where.workers,
            "stride": self._stride(),
        }

    def _stride(self) -> int:
        """Samples that all ranks take in a step."""
        return self._where.world * int(self._settings.config["batch_size"])

    def _read_by_workers(self) -> bool:
        """Whether workers of a DataLoader of this process have begun what comes next for this loader."""
        return in_worker() is None and self._shared is not None and self._shared.busy()

    def _start(self) -> At:
        """Where the next iteration begins."""
        me = in_worker()
        if me is None or self._shared is None or self._forced:
            return self._next
        epoch = self._shared.get(*me)
        return self._next if epoch == self._next.epoch else At(epoch, 0)

    def _begin(self, began: float) -> tuple[int, At, Transport]:
        """Begins an iteration: its number, its place, and what its batches come from."""
        transport = self._open()
        at = self._start()
        transport.begin(at.epoch, at.position)
        me = in_worker()
        self._forced = False
        if me is None:
            self._next = At(at.epoch + 1, 0)
        if self._shared and me:
            self._shared.begin(*me, at.epoch)
        elif self._shared:
            self._shared.set(at.epoch + 1)
        self._at = at
        self._meter = Meter(at.epoch, began)
        self._turn += 1
        return self._turn, at, transport

    def _way(self, output: str) -> Callable[[_ahead.Take, _output.Form], Callable[[], _ahead.Taken | None]]:
        """How batches get to where the model wants them."""
        device = self._settings.device
        if output != "torch" or not (device or self._settings.pin_memory):
            return _ahead.plain
        if device is None:
            return _ahead.pinned
        if not device.startswith("cuda"):
            return partial(_ahead.changed, change=lambda tensor: tensor.to(device))
        if self._gpu is None:
            self._gpu = _ahead.Gpu(device)
        return partial(_ahead.Ahead, gpu=self._gpu)

    def _took(self, epoch: int, taken: _ahead.Taken) -> None:
        """A batch is given."""
        position, where = taken.position, self._where
        if where.workers > 1:
            # All workers go on from one place: the step after the last that this one has left to the others.
            position = min(position + (where.workers - 1 - where.worker) * self._stride(), self.rows)
        self._at = At(epoch, position)
        self._repeated = taken.repeated
        self._meter.took(taken.rows)

    def _ended(self, epoch: int) -> None:
        """An epoch has come to its end. A worker stays there, because the others may not have; whether the model waits it cannot know."""
        if in_worker():
            self._at = At(epoch, self.rows)
            return
        self._at = None
        if self._meter.waited > MUCH * (self._meter.ended - self._meter.began):
            warn(self.report())


class Epoch(Iterator[Any]):
    """An iteration over a loader. It begins with the first batch that is asked for."""

    def __init__(self, loader: Loader, output: str) -> None:
        self._loader = loader
        self._output = output
        self._turn = 0  # not begun
        self._done = False
        self._take: Callable[[], _ahead.Taken | None]

    def __next__(self) -> Any:
        loader = self._loader
        if self._done:
            raise StopIteration
        try:
            if not self._turn:
                self._begin()
            elif self._turn != loader._turn:
                raise Error("the loader was closed, or has begun another iteration: two side by side need two loaders")
            taken = self._take()
        except TransportError as error:
            raise translate(error) from None
        if taken is None:
            self._done = True
            loader._ended(self._epoch)
            raise StopIteration
        loader._took(self._epoch, taken)
        return taken.value

    def _begin(self) -> None:
        began = perf_counter()
        loader = self._loader
        form = _output.form(self._output, loader._settings.config)
        self._turn, (self._epoch, _), transport = loader._begin(began)
        self._take = loader._way(self._output)(_receive(transport, loader._meter), form)


def _receive(transport: Transport, meter: Meter) -> _ahead.Take:
    """Batches as they come, and how long that takes. It knows nothing of the loader, which is gone when the last who uses it is."""

    def take() -> Batch | None:
        since = perf_counter()
        item = transport.next()
        if isinstance(item, End):
            return None
        meter.waited += perf_counter() - since
        return item

    return take


def rebuild(settings: Settings, at: At = BEGINNING, shared: Epochs | None = None) -> Loader:
    """A loader; one that is a torch IterableDataset where it gives torch's tensors."""
    return _kind(settings.output)(settings, at, shared)


def _kind(output: str) -> type[Loader]:
    if output != "torch":
        return Loader
    from ._torch import TorchLoader  # noqa: PLC0415 - imports torch

    return TorchLoader
