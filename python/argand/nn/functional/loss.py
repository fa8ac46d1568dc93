"""Losses.  `reduction`: "mean" or "sum" of the elements' losses, or "none"; size_average and reduce are its older
form."""
import math
import warnings

from ... import _C
from ..._ignored import ignored
from ...autograd.grad_mode import no_grad
from .. import _reduction
from .._reduction import number as _number
from .activation import logsigmoid


def _reduced(loss, reduction):
    if reduction == 1:
        return loss.mean()
    return loss.sum() if reduction == 2 else loss


def _check_sizes(input, target):
    if input.shape != target.shape:
        warnings.warn(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
                      "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
                      "same size.",
                      stacklevel=3)


def _weighted(function, input, target, weight, reduction, *parameters):
    """The loss with a weight for each element; the mean is over the weights."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    loss = function(input, target, 0, *parameters) * weight
    return loss.sum() / weight.sum() if reduction == 1 else _reduced(loss, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None) -> "_C.Tensor":
    """|x - y|"""
    _check_sizes(input, target)
    reduction = _number(reduction, size_average, reduce)
    if weight is not None:
        return _weighted(_C.l1_loss, input, target, weight, reduction)
    return _C.l1_loss(input, target, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None) -> "_C.Tensor":
    """(x - y)^2"""
    _check_sizes(input, target)
    reduction = _number(reduction, size_average, reduce)
    if weight is not None:
        return _weighted(_C.mse_loss, input, target, weight, reduction)
    return _C.mse_loss(input, target, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """(x - y)^2 / (2 beta) where |x - y| < beta, |x - y| - beta / 2 elsewhere."""
    _check_sizes(input, target)
    reduction = _number(reduction, size_average, reduce)
    return _C.l1_loss(input, target, reduction) if beta == 0.0 else _C.smooth_l1_loss(input, target, reduction, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None) -> "_C.Tensor":
    """(x - y)^2 / 2 where |x - y| < delta, delta (|x - y| - delta / 2) elsewhere."""
    _check_sizes(input, target)
    reduction = _reduction.get_enum(reduction)
    if weight is not None:
        return _weighted(_C.huber_loss, input, target, weight, reduction, delta)
    return _C.huber_loss(input, target, reduction, delta)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """-log softmax(x)[y] for scores [N, C, *] and classes [N, *], or probabilities of classes [N, C, *]."""
    return _C.cross_entropy_loss(input, target, weight, _number(reduction, size_average, reduce), ignore_index,
                                 label_smoothing)


@ignored(options="scores are made whole, where PyTorch would make and free them in parts")
def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
                         label_smoothing=0.0, options=None):
    """cross_entropy of the scores x W^T + b for x [*, E] and a weight [C, ..., E]: they are [*, C, ...].  Where all scores are more than
    memory holds, checkpoints of parts of x are for the caller: options is accepted and changes nothing."""
    classes, *others, _ = linear_weight.shape
    scores = _C.linear(input, linear_weight.flatten(0, -2), None if linear_bias is None else linear_bias.flatten())
    return cross_entropy(scores.reshape(*input.shape[:-1], classes, *others), target, weight,
                         ignore_index=-100 if ignore_index is None else ignore_index, reduction=reduction, label_smoothing=label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-x[y] for log-probabilities [N, C, *] and classes [N, *]."""
    return _C.nll_loss_nd(input, target, weight, _number(reduction, size_average, reduce), ignore_index)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction="mean"):
    """exp(x) - y x (x - y log(x + eps) if not log_input), with Stirling's term for y > 1 if full."""
    return _C.poisson_nll_loss(input, target, log_input, full, eps, _number(reduction, size_average, reduce))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean") -> "_C.Tensor":
    """(log var + (x - y)^2 / var) / 2 with var no less than eps; the constant too if full."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * _C.ones_like(input)
    elif not isinstance(var, _C.Tensor):
        raise TypeError(f"gaussian_nll_loss(): argument 'var' (position 3) must be Tensor or float, not {type(var).__name__}")
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif var.dim() != input.dim() or any(v not in (1, s) for v, s in zip(var.shape, input.shape)):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():  # the clamp is no part of the gradient
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, _reduction.get_enum(reduction))


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False) -> "_C.Tensor":
    """y (log y - x) for log-probabilities x and probabilities y (their logarithms if log_target)."""
    if size_average is not None or reduce is not None:
        reduction = _reduction.legacy_get_string(size_average, reduce)
    if reduction == "mean":
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size."
                      "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                      "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
                      stacklevel=2)
    by_batch = reduction == "batchmean"
    loss = _C.kl_div(input, target, _reduction.get_enum("sum" if by_batch else reduction), log_target=log_target)
    return loss / input.size(0) if by_batch and input.dim() != 0 else loss


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(y log x + (1 - y) log(1 - x)) for probabilities x."""
    if target.size() != input.size():
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) "
                         "is deprecated. Please ensure they have the same size.")
    if weight is not None:
        weight = weight.expand(_C.broadcast_tensors([target, weight])[0].shape)
    return _C.binary_cross_entropy(input, target, weight, _number(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """binary_cross_entropy() of sigmoid(x), without its loss of digits; positive targets count pos_weight times."""
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight,
                                               _number(reduction, size_average, reduce))


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """x where y = 1, max(0, margin - x) where y = -1."""
    return _C.hinge_embedding_loss(input, target, margin, _number(reduction, size_average, reduce))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(x1, x2) where y = 1, max(0, cos(x1, x2) - margin) where y = -1."""
    return _C.cosine_embedding_loss(input1, input2, target, margin, _number(reduction, size_average, reduce))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -y (x1 - x2) + margin)"""
    reduction = _number(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.size()}, input2: {input2.size()}, target: {target.size()} ")
    return _C.margin_ranking_loss(input1, input2, target, margin, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-y x))"""
    return _C.soft_margin_loss(input, target, _number(reduction, size_average, reduce))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The sum over classes i != y of max(0, margin - x[y] + x[i])^p, divided by the number of classes."""
    reduction = _number(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _C.multi_margin_loss(input, target, p, margin, weight, reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Sums of max(0, 1 - x[y] + x[i]) over the classes y that are set and those i that are not."""
    return _C.multilabel_margin_loss(input, target, _number(reduction, size_average, reduce))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean") -> "_C.Tensor":
    """The mean over classes of binary_cross_entropy_with_logits()."""
    reduction = _number(reduction, size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.sum(input.dim() - 1) / input.size(-1), reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None,
                        reduction="mean"):
    """max(0, |a - p| - |a - n| + margin) in p-norms; |p - n| instead of |a - n| where it is less, if swap."""
    reduction = _number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _C.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean") -> "_C.Tensor":
    """triplet_margin_loss() with a distance of one's own."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of "
                           f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative "
                           f"{negative.dim()}D inputs")
    distance = _C.pairwise_distance if distance_function is None else distance_function
    to_positive, to_negative = distance(anchor, positive), distance(anchor, negative)
    if swap:
        to_negative = _C.minimum(to_negative, distance(positive, negative))
    return _reduced(_C.clamp_min(margin + to_positive - to_negative, 0), _reduction.get_enum(reduction))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability of the target sequences under all alignments, for log_probs [T, N, C] or [T, C]."""
    return _C.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction.get_enum(reduction),
                       zero_infinity)
