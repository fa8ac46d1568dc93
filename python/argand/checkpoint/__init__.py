"""Checkpoints of a training run: nothing that was saved is lost, and a resumed run gives the bits of one that never stopped.

    folder = argand.checkpoint.CheckpointFolder("run")
    parts = dict(model=model, optimizer=optimizer, scheduler=scheduler, scaler=scaler, loader=loader)
    epoch = step = 0
    if folder.steps():
        saved = restore(folder.load_latest().state, **parts)
        epoch, step = saved["epoch"], saved["step"]
    with StopSignal() as stop:
        for epoch in range(epoch, epochs):
            for x, y in loader:                  # continues after the last batch that was given out
                ...                              # one step
                step += 1
                if step % 1000 == 0 or stop.requested:
                    folder.save_async(step, training_state(epoch=epoch, step=step, **parts))
                if stop.requested:
                    folder.close()
                    sys.exit(128 + stop.signal)

Several processes have DistributedCheckpointFolder in the place of CheckpointFolder, and ask stop.requested_by_any() once a
step; docs/distributed.md shows such a program.

(torch.utils.checkpoint is something else: it computes activations anew.)
"""
from ._distributed import DistributedCheckpointFolder, LoadedByRanks, PendingSave
from ._folder import CheckpointFolder, Loaded
from .._per_rank import PerRank
from ._state import restore, training_state
from ._stop import StopSignal

__all__ = ["CheckpointFolder", "DistributedCheckpointFolder", "Loaded", "LoadedByRanks", "PendingSave", "PerRank", "StopSignal", "restore",
           "training_state"]
