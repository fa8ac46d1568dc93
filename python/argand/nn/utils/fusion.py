"""Batch normalization folded into the layer before it, for inference."""
import copy

from ... import _C
from ..parameter import Parameter


def _fused_weights(weight, bias, mean, var, eps, gamma, beta, shape):
    bias = _C.zeros_like(mean) if bias is None else bias
    gamma = _C.ones_like(mean) if gamma is None else gamma
    beta = _C.zeros_like(mean) if beta is None else beta
    scale = gamma * _C.rsqrt(var + eps)
    return (Parameter((weight * scale.reshape(shape)).to(weight.dtype), weight.requires_grad),
            Parameter(((bias - mean) * scale + beta).to(weight.dtype), bias.requires_grad))


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of the convolution that does what a convolution and a batch normalization after it do."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of the linear layer that does what a linear layer and a batch normalization after it do."""
    return _fused_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))


def _check_modes(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that does what both modules, in eval mode, do."""
    _check_modes(conv, bn)
    fused = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps,
                                                    bn.weight, bn.bias, transpose)
    return fused


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that does what both modules, in eval mode, do."""
    _check_modes(linear, bn)
    if not (linear.out_features == bn.num_features or bn.num_features == 1):
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps,
                                                      bn.weight, bn.bias)
    return fused
