"""Devices: what is there, moving tensors, the same numbers on each; memory, streams and events where there is a GPU."""
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("device:", device.type)

a = torch.tensor([5.0, 3.0], device=device)
b = torch.tensor([5.0, 3.0])
print("squares:", (a**2).tolist(), (b**2).tolist(), torch.equal((a**2).cpu(), b**2))
print("moved:", a.to("cpu").device, a.cpu().to(device).device.type, a.to(device) is a)
print("where:", a.is_cuda == (device.type == "cuda"), b.get_device())

model = torch.nn.Linear(2, 3).to(device)
out = model(a.to(device, non_blocking=True))
print("model on it:", next(model.parameters()).device.type == out.device.type, out.shape)

if device.type == "cuda":
    print("name:", torch.cuda.get_device_name(0), torch.cuda.get_device_capability())
    before = torch.cuda.memory_allocated()
    block = torch.zeros(1024, 1024, device=device)
    torch.cuda.synchronize()
    print("a tensor of 4 MiB takes:", torch.cuda.memory_allocated() - before)
    del block
    print("peak at least that:", torch.cuda.max_memory_allocated() >= before + 4 * 2**20)
    torch.cuda.empty_cache()
    stream, start, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        start.record()
        x = torch.randn(2048, 2048, device=device)
        y = x @ x
        end.record()
    torch.cuda.current_stream().wait_stream(stream)
    end.synchronize()
    print("timed:", start.elapsed_time(end) > 0, y.shape)
