"""The adaptive softmax: frequent classes in a head, rare ones in clusters with smaller projections."""
import collections

from ... import _C
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = collections.namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """log softmax over n_classes, sorted by falling frequency and cut at `cutoffs` (Grave et al. 2017).

    forward: for [N, in_features] (or [in_features]) and targets, their log-probabilities and the mean loss.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1
                or len(set(cutoffs)) != len(cutoffs) or any(int(c) != c for c in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                             "where each value is between 1 and n_classes-1")
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = cutoffs + [n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        place = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **place)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, hidden, bias=False, **place),
                                        Linear(hidden, size, bias=False, **place)))

    def reset_parameters(self):
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_, target_):
        dims = target_.dim()
        if dims == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input_.dim() != 2:
                raise RuntimeError("1D target tensor expects 2D input tensors, but found inputs with size "
                                   f"{input_.size()}")
        elif dims == 0:
            if input_.dim() != 1:
                raise RuntimeError("0D target tensor expects 1D input tensors, but found inputs with size "
                                   f"{input_.size()}")
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        input = input_ if dims == 1 else input_.unsqueeze(0)
        target = target_ if dims == 1 else target_.unsqueeze(0)
        if target.numel() and (int(target.min()) < 0 or int(target.max()) >= self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{int(target.min())}, {int(target.max())}] were found. ")
        head = F.log_softmax(self.head(input), dim=1)
        in_head = target.clone()
        rare = _C.zeros_like(head[:, 0])
        for i in range(self.n_clusters):
            rows = ((target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            # The head's class of the cluster, times the cluster's own softmax.
            in_head = in_head.index_fill(0, rows, self.shortlist_size + i)
            within = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            own = (target.index_select(0, rows) - self.cutoffs[i]).unsqueeze(1)
            rare = rare.index_copy(0, rows, within.gather(1, own).squeeze(1))
        output = rare + head.gather(1, in_head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if dims == 1 else output.squeeze(0), loss)

    def log_prob(self, input):
        """The log-probabilities of all classes, [N, n_classes]."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, :self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return _C.cat(parts, 1)

    def predict(self, input):
        """The most probable class of each row."""
        return self.log_prob(input).argmax(1)
