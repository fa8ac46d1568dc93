# A program with planted mistakes.  test_types.py runs mypy and pyright on this file and never runs the file itself.  A line that ends in
# `# error: MYPY, PYRIGHT` must be reported, by mypy with the first code and by pyright with the second; no other line may be.
from typing_extensions import assert_type

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(2, 3)

# Operators: types of results, named results, defaults
assert_type(torch.max(x, dim=1).values, Tensor)
assert_type(x.max(1).indices, Tensor)
assert_type(torch.linalg.svd(x).S, Tensor)
values, indices = torch.sort(x, descending=True)
assert_type(values, Tensor)
assert_type(x.size(), torch.Size)
assert_type(x.size(0), int)
assert_type(x.shape, torch.Size)
assert_type(x.sum(dim=(0, 1), keepdim=True), Tensor)
assert_type(1 - x[0] @ x.T, Tensor)
assert_type(x.nonzero(as_tuple=True), tuple[Tensor, ...])
assert_type(x.to("cpu", torch.float64), Tensor)
first, *rest = torch.split(x, 1, dim=1)
torch.tensordot(x, x, dims=2)
torch.zeros(2, 3, dtype=torch.int64, device="cpu")
torch.zeros((2, 3), device=torch.device("cuda", 0))
torch.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2), stride=2, padding=(1, 1))
x.reluu()  # error: attr-defined, reportAttributeAccessIssue
x.shap  # error: attr-defined, reportAttributeAccessIssue
torch.tesnor([1.0])  # error: attr-defined, reportAttributeAccessIssue
torch.linalg.svdd(x)  # error: attr-defined, reportAttributeAccessIssue
torch.max(x, dim=1).valuess  # error: attr-defined, reportAttributeAccessIssue
torch.relu(x, inplace=True)  # error: call-arg, reportCallIssue
torch.zeros(2, dtype="float32")  # error: call-overload, reportArgumentType
torch.softmax(x, dim="last")  # error: arg-type, reportArgumentType
torch.matmul(x)  # error: call-arg, reportCallIssue
x.sum(keepdims=True)  # error: call-overload, reportCallIssue
wrong: str = torch.relu(x)  # error: assignment, reportAssignmentType

# Modules
layer = nn.Linear(3, 4)
assert_type(layer.weight, nn.Parameter)
assert_type(layer.weight.grad, Tensor | None)
assert_type(layer.train().to("cuda"), nn.Linear)
assert_type(nn.LayerNorm(3).weight, nn.Parameter)
assert_type(nn.BatchNorm2d(3).running_mean, Tensor)
nn.Conv2d(3, 8, kernel_size=3, padding="same", bias=False)(x)
nn.Linear(3, 4, bais=False)  # error: call-arg, reportCallIssue
nn.Linear(3)  # error: call-arg, reportCallIssue
nn.Linaer(3, 4)  # error: attr-defined, reportAttributeAccessIssue
nn.Dropout(prob=0.1)  # error: call-arg, reportCallIssue
nn.modules.linear.Liner  # error: attr-defined, reportAttributeAccessIssue
layer.load_state_dicts({})  # error: operator, reportCallIssue
layer.load_state_dict(layer.state_dict(), stict=False)  # error: call-arg, reportCallIssue


class Net(nn.Module):
    scale: Tensor

    def __init__(self):
        super().__init__()
        self.first, self.blocks = nn.Linear(3, 4), nn.ModuleList([nn.Linear(4, 4)])
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x, twice: bool = False):
        for block in self.blocks:
            x = block(F.relu(self.first(x)))
        return x * self.scale


net = Net()
assert_type(net.first.bias, nn.Parameter)
net(x, twice=True).sum().backward()
net.frist(x).shape  # error: operator, reportCallIssue

# Functions, data, optimizers, settings
assert_type(F.relu(x), Tensor)
assert_type(F.dropout(x, 0.5), Tensor)  # the file that has it is named dropout, too
assert_type(F.mse_loss(F.dropout(x, 0.1), x), Tensor)
assert_type(list(net.parameters()), list[nn.Parameter])
assert_type([name for name, module in net.named_modules()], list[str])
assert_type(torch.cuda.is_available(), bool)
assert_type(F.cross_entropy(x, torch.tensor([0, 1])), Tensor)
F.dropout(x, p=0.1, traning=True)  # error: call-arg, reportCallIssue
F.silu_(x)  # error: attr-defined, reportAttributeAccessIssue
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
torch.optim.Adam(net.parameters(), learning_rate=1e-3)  # error: call-arg, reportCallIssue
torch.optim.Adan(net.parameters())  # error: attr-defined, reportAttributeAccessIssue
training, testing = torch.utils.data.random_split(TensorDataset(x), [1, 1])
loader = DataLoader(training, batch_size=1)
for batch, target in DataLoader(TensorDataset(x, x), batch_size=2, shuffle=True):
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        net(batch)
DataLoader(TensorDataset(x), batchsize=2)  # error: call-arg, reportCallIssue
torch.manual_seed(0)
torch.save(net.state_dict(), "net.pt")
net.load_state_dict(torch.load("net.pt", map_location="cpu"))
torch.distributions.Normal(0.0, 1.0).sample((2,))
torch.cuda.is_availble()  # error: attr-defined, reportAttributeAccessIssue
torch.no_grads()  # error: attr-defined, reportAttributeAccessIssue
assert_type(torch.FloatTensor(2, 3), Tensor)


@torch.no_grad()
def evaluate(count: int) -> int:
    return count


evaluate(3)
