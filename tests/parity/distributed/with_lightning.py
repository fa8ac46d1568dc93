"""Lightning's strategy "ddp" (or what STRATEGY says) on two processes: a module that logs, a checkpoint of the best, a validation of it."""
import os
import sys

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from saying import say
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

    def loss(self, batch):
        return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

    def training_step(self, batch, step):
        loss = self.loss(batch)
        self.log("train", loss, sync_dist=True, on_epoch=True)
        say(f"[{self.global_rank}] {self.current_epoch} {step} {loss.item():.5f}")
        return loss

    def validation_step(self, batch, step):
        self.log("valid", self.loss(batch), sync_dist=True)

    def on_validation_epoch_end(self):
        say(f"[{self.global_rank}] {self.all_gather(torch.tensor([float(self.global_rank)])).flatten().tolist()}")

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)}


if __name__ == "__main__":
    lightning.seed_everything(1, verbose=False)
    data = TensorDataset(torch.randn(96, 8), torch.randint(0, 3, (96,)))
    module, best = Module(), ModelCheckpoint(dirpath=sys.argv[1], monitor="valid", save_last=True)
    trainer = lightning.Trainer(accelerator="cpu", strategy=os.environ.get("STRATEGY", "ddp"), devices=2, max_epochs=2, callbacks=[best],
                                logger=False, enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=1,
                                gradient_clip_val=1.0, accumulate_grad_batches=2)
    trainer.fit(module, DataLoader(data, batch_size=8, shuffle=True), DataLoader(data, batch_size=8))
    say(f"[{trainer.global_rank}] {type(trainer.strategy).__name__} {trainer.callback_metrics['valid']:.5f} "
        f"{trainer.callback_metrics['train_epoch']:.5f} {os.path.basename(best.best_model_path)}")
    trainer.validate(module, DataLoader(data, batch_size=8), ckpt_path=best.best_model_path, verbose=False)
    say(f"[{trainer.global_rank}] {trainer.callback_metrics['valid']:.5f}")
