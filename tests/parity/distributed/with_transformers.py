"""The Trainer of transformers with a small GPT-2: training, evaluation, prediction, and a start from its own checkpoint."""
import sys

import torch
from saying import say
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed


class Rows(torch.utils.data.Dataset):
    def __init__(self, count):
        self.ids = torch.randint(0, 50, (count, 12), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i]}


class Say(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **more):
        figures = {name: f"{value:.4f}" for name, value in logs.items() if name in ("loss", "grad_norm", "eval_loss", "train_loss")}
        say(f"[{args.process_index}] {state.global_step} {figures}")


def trainer(steps):
    arguments = TrainingArguments(output_dir=sys.argv[1], use_cpu=True, per_device_train_batch_size=4, per_device_eval_batch_size=4,
                                  max_steps=steps, logging_steps=2, eval_strategy="steps", eval_steps=6, save_steps=6, report_to=[],
                                  learning_rate=1e-3, gradient_accumulation_steps=2, disable_tqdm=True, warmup_steps=2)
    return Trainer(model=model, args=arguments, train_dataset=Rows(120), eval_dataset=Rows(21), callbacks=[Say()])


set_seed(3)
model = GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=50, n_positions=16, resid_pdrop=0, embd_pdrop=0,
                                   attn_pdrop=0))
first = trainer(12)
first.train()
say(f"[{first.args.process_index}] {first.args.world_size} {type(first.model_wrapped).__name__} {first.evaluate()['eval_loss']:.4f}")
predicted = first.predict(Rows(9)).predictions
say(f"[{first.args.process_index}] {predicted.shape} {abs(predicted).mean():.4f}")
trainer(14).train(resume_from_checkpoint=sys.argv[1] + "/checkpoint-6")
