"""Special functions, as torch.special."""
from . import _C

digamma = psi = _C.digamma
erf, erfc, erfinv = _C.erf, _C.erfc, _C.erfinv
exp2, expm1, log1p, sinc, xlogy = _C.exp2, _C.expm1, _C.log1p, _C.sinc, _C.xlogy
gammaln, i0, i1, polygamma, logit = _C.lgamma, _C.i0, _C.special_i1, _C.polygamma, _C.logit
expit, softmax, log_softmax, logsumexp, round = _C.sigmoid, _C.softmax, _C.log_softmax, _C.logsumexp, _C.round
