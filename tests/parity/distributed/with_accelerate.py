"""accelerate: two processes on CPUs, gradients of two batches, metrics of all, and a state that is saved and loaded."""
import sys

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from accelerate.utils import broadcast_object_list, gather_object, set_seed
from saying import say
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2,
                          kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)])
rank = accelerator.process_index
set_seed(7)
x, y = torch.randn(100, 8), torch.randint(0, 3, (100,))
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
train, valid = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True), DataLoader(TensorDataset(x[:37], y[:37]), batch_size=8)
model, optimizer, train, valid, schedule = accelerator.prepare(model, optimizer, train, valid, schedule)
say(f"[{rank}] {accelerator.distributed_type} {accelerator.num_processes} {type(model).__name__} {len(train)} {len(valid)}")


def epoch():
    model.train()
    for inputs, labels in train:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        say(f"[{rank}] {loss.item():.5f} {accelerator.sync_gradients} {schedule.get_last_lr()[0]:.6f}")
    model.eval()
    right = []
    for inputs, labels in valid:
        with torch.no_grad():
            scores = model(inputs)
        right.append(torch.eq(*accelerator.gather_for_metrics((scores.argmax(-1), labels))))
    say(f"[{rank}] {torch.cat(right).float().mean():.4f} of {len(torch.cat(right))}")


epoch()
accelerator.save_state(sys.argv[1] + "/state")
epoch()
accelerator.load_state(sys.argv[1] + "/state")
epoch()
words = [f"from {rank}"]
broadcast_object_list(words, 1)
say(f"[{rank}]", accelerator.gather(torch.tensor([rank])).tolist(), gather_object([{"rank": rank}]), words,
    accelerator.reduce(torch.ones(2) * rank, "mean").tolist(), accelerator.pad_across_processes(torch.ones(1 + rank)).tolist())
with accelerator.split_between_processes(list(range(5))) as part:
    say(f"[{rank}] {part}")
accelerator.wait_for_everyone()
accelerator.end_training()
