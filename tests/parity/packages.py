#!/usr/bin/env python3
"""Networks of torchvision, timm and transformers, unmodified, trained a few steps by both libraries in turn.

    packages.py [--device cuda] [--verbose] [NAME...]

Each network is small or made small, starts from PyTorch's weights, and sees the same numbers; what would be drawn (dropout, dropped
paths) is turned off.  Compared are outputs, the gradients' norm, the losses of three steps of SGD, and a loss under autocast in
bfloat16.  Our side is this script by `python -m argand`.  Differences that are known stand in packages_known.txt (NETWORK | DIFFERENCE |
REASON); any other is a failure, and so is a line of a network that ran and agrees.  Networks that PyTorch itself cannot run here, and
those whose package is not installed, are counted as left out, with the reason.  Last `N passed, N failed`.  Without PyTorch nothing is done, with exit status 77.
"""
import argparse
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import any_processor  # noqa: F401  before torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from known import Known, describes  # noqa: E402


VISION = ["resnet18", "mobilenet_v3_small", "efficientnet_b0", "convnext_tiny", "densenet121", "vgg11_bn", "squeezenet1_1",
          "shufflenet_v2_x0_5", "regnet_y_400mf", "mnasnet0_5", "swin_t", "vit_b_32", "googlenet", "resnext50_32x4d"]
TIMM = ["deit_tiny_patch16_224", "efficientformer_l1", "mobilevit_xxs", "pvt_v2_b0", "poolformer_s12", "res2net50_26w_4s",
        "mixer_s32_224", "levit_128s", "ghostnet_100", "xcit_nano_12_p16_224", "hrnet_w18_small"]
SMALL = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=99)
TEXT = {  # transformers: class, configuration, its arguments
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", dict(n_embd=64, n_layer=2, n_head=4, vocab_size=99)),
    "bert": ("BertForMaskedLM", "BertConfig", SMALL),
    "llama": ("LlamaForCausalLM", "LlamaConfig", dict(SMALL, num_key_value_heads=2)),
    "mistral": ("MistralForCausalLM", "MistralConfig", dict(SMALL, num_key_value_heads=2, sliding_window=8)),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", dict(SMALL, num_key_value_heads=2)),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", dict(SMALL, num_key_value_heads=1, head_dim=16)),
    "opt": ("OPTForCausalLM", "OPTConfig", dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128, vocab_size=99,
                                               word_embed_proj_dim=64)),
    "bloom": ("BloomForCausalLM", "BloomConfig", dict(hidden_size=64, n_layer=2, n_head=4, vocab_size=99)),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SMALL),
    "falcon": ("FalconForCausalLM", "FalconConfig", dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=99)),
    "phi": ("PhiForCausalLM", "PhiConfig", SMALL),
    "mamba": ("MambaForCausalLM", "MambaConfig", dict(hidden_size=64, num_hidden_layers=2, vocab_size=99, state_size=8)),
    "mixtral": ("MixtralForCausalLM", "MixtralConfig", dict(SMALL, num_key_value_heads=2, num_local_experts=4)),
    "t5": ("T5ForConditionalGeneration", "T5Config", dict(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=99,
                                                         decoder_start_token_id=0)),
    "bart": ("BartForConditionalGeneration", "BartConfig", dict(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                                               decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
                                                               vocab_size=99)),
    "deberta": ("DebertaV2ForMaskedLM", "DebertaV2Config", dict(SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"])),
    "rwkv": ("RwkvForCausalLM", "RwkvConfig", dict(hidden_size=64, num_hidden_layers=2, vocab_size=99, attention_hidden_size=64)),
    "xlnet": ("XLNetLMHeadModel", "XLNetConfig", dict(d_model=64, n_layer=2, n_head=4, d_inner=128, vocab_size=99)),
}
NAMES = [*(f"torchvision/{n}" for n in VISION), *(f"timm/{n}" for n in TIMM), *(f"transformers/{n}" for n in TEXT)]
LIMITS = {"output": 2e-4, "gradient": 1e-3, "loss": 2e-4, "bfloat16": 3e-2}


# ---- one side: `torch` is whatever library this process has

def network(torch, package, name):
    """A module, and a function that gives what it makes of its input, and the loss.  The input is drawn first: how a network draws its
    weights differs between versions."""
    if package == "transformers":
        import transformers
        kind, config, arguments = TEXT[name]
        ids = torch.randint(1, 99, (2, 24))
        model = getattr(transformers, kind)(getattr(transformers, config)(**arguments))

        def run(device):
            out = model(input_ids=ids.to(device), labels=ids.to(device))
            return out.logits, out.loss
        return model.eval(), run  # their attention drops weights by a number, not by a module
    images, classes = torch.randn(4, 3, 224, 224), torch.randint(0, 10, (4,))
    if package == "timm":
        import timm
        model = timm.create_model(name, num_classes=10, pretrained=False)
    else:
        import torchvision
        options = {"aux_logits": False, "init_weights": True} if name == "googlenet" else {}
        model = getattr(torchvision.models, name)(num_classes=10, **options)

    def run(device):
        scores = model(images.to(device))
        return scores, torch.nn.functional.cross_entropy(scores, classes.to(device))
    return model.train(), run


def turn_off_draws(model):
    for module in model.modules():
        drops = "Drop" in type(module).__name__ or "StochasticDepth" in type(module).__name__
        for chance in ("p", "drop_prob", "drop_rate"):
            if (drops or chance != "p") and isinstance(getattr(module, chance, None), float):
                setattr(module, chance, 0.0)


def one_side(torch, name, device, weights):
    """Facts of a network by this library; the first to come writes the weights."""
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = False
    model, run = network(torch, *name.split("/"))
    turn_off_draws(model)
    if weights.exists():
        model.load_state_dict(torch.load(weights))
    else:
        torch.save(model.state_dict(), weights)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    losses = []
    for step in range(3):
        optimizer.zero_grad()
        out, loss = run(device)
        loss.backward()
        if step == 0:
            output = out.detach().float().cpu()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9).item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    with torch.autocast(device, dtype=torch.bfloat16):
        narrow = run(device)[1].item()
    flat = output.reshape(-1)
    return {"output": flat[::max(1, flat.numel() // 64)].tolist(), "gradient": norm, "loss": losses, "bfloat16": narrow}


def run_side(names, device, folder):
    import torch
    for name in names:
        begin = time.time()
        try:
            facts = one_side(torch, name, device, folder / (name.replace("/", "_") + ".pt"))
        except Exception as error:
            import traceback
            facts = {"error": f"{type(error).__name__}: {error}"[:300], "trace": traceback.format_exc()[-1500:]}
        print(json.dumps({"name": name, "seconds": round(time.time() - begin, 1), **facts}), flush=True)


# ---- both

def apart(a, b):
    """Relative to the largest; infinite where there is something that is no number."""
    a, b = (x if isinstance(x, list) else [x] for x in (a, b))
    if len(a) != len(b) or not all(math.isfinite(x) for x in (*a, *b)):
        return math.inf
    return max(abs(x - y) for x, y in zip(a, b)) / max(1e-12, *(abs(x) for x in a))


def difference(theirs, ours, verbose):
    """A sentence, or None."""
    if "error" in ours:
        return ours["error"] + (f"\n{ours['trace']}" if verbose else "")
    bad = {fact: apart(theirs[fact], ours[fact]) for fact, limit in LIMITS.items() if not apart(theirs[fact], ours[fact]) <= limit}
    return "; ".join(f"{fact} differs by {x:.0e}" for fact, x in bad.items()) or None


def figures(theirs, ours):
    return (f"losses {' '.join(f'{x:.5f}' for x in ours['loss'])} (PyTorch {' '.join(f'{x:.5f}' for x in theirs['loss'])}); apart: "
            + ", ".join(f"{fact} {apart(theirs[fact], ours[fact]):.0e}" for fact in LIMITS)
            + f"; {ours['seconds']} s (PyTorch {theirs['seconds']})")


def facts_of(command, names):
    """The facts of networks by name.  A process that ends early is started again at the network after the one it ended in."""
    facts, left = {}, list(names)
    while left:
        out = subprocess.run([*command, *left], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]
        facts.update({f["name"]: f for f in lines})
        left = left[len(lines):]
        if left:
            facts[left[0]] = {"error": f"the process ended with {out.returncode}", "trace": out.stderr[-1500:]}
            left = left[1:]
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--verbose", action="store_true", help="show where a failure comes from")
    parser.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    names = [n for n in NAMES if not args.names or n in args.names or n.split("/")[0] in args.names]
    if args.side:
        return run_side(names, args.device, args.folder)
    if not importlib.util.find_spec("torch"):
        other = os.environ.pop("ARGAND_TORCH_PYTHON", None)  # popped: tried once
        if other:
            os.execv(other, [other, *sys.argv])
        print("packages: skipped, because this Python has no PyTorch (ARGAND_TORCH_PYTHON may name one that has)")
        return 77
    left_out = 0
    for package in sorted({n.split("/")[0] for n in names}):
        if not importlib.util.find_spec(package):
            absent = [n for n in names if n.startswith(package + "/")]
            print(f"{package} is not installed: {len(absent)} networks left out")
            names, left_out = [n for n in names if n not in absent], left_out + len(absent)
    with tempfile.TemporaryDirectory() as folder:
        rest = ["--device", args.device, "--folder", folder, "--side"]
        theirs = facts_of([sys.executable, __file__, *rest], names)
        ours = facts_of([sys.executable, "-m", "argand", __file__, *rest], [n for n in names if "error" not in theirs[n]])
    known, covered = Known(Path(__file__).parent / "packages_known.txt"), set()
    passed = failed = differ = 0
    for name in names:
        if "error" in theirs[name]:
            print(f"{name}: left out, because PyTorch fails: {theirs[name]['error']}")
            left_out += 1
            continue
        covered.add(name)
        note = difference(theirs[name], ours[name], args.verbose)
        if note and known.explains(lambda line: line.where == name and describes(line.difference, note)):
            print(f"{name}: differs as packages_known.txt says: {note}")
            differ += 1
        elif note:
            print(f"{name}: FAILED: {note}")
            failed += 1
        else:
            passed += 1
        if "error" not in ours[name]:
            print(f"{name}: {figures(theirs[name], ours[name])}")
    stale = known.stale(lambda line: line.where in covered)
    print("".join(f"{line}\n" for line in stale), end="")
    failed += len(stale)
    print(f"{differ} differ as packages_known.txt says, {left_out} left out")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
