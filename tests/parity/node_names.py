#!/usr/bin/env python3
"""Compares the names of autograd nodes, `type(result.grad_fn).__name__`: PyTorch's own samples of its operators (op_db),
and the expressions below, by both libraries.

    node_names.py [--samples N] [OPERATOR...]

Differences that are meant stand in node_names_known.txt, each with its reason:

    ENTRY | THEIRS -> OURS | REASON

ENTRY is an operator of the table or an expression, and may be a pattern.  Any other difference is a failure, and so is a
line that nothing matches.  Last `N passed, N failed`.  Without PyTorch nothing is done, with exit status 77.
"""
import argparse
import sys
import warnings
from pathlib import Path

import op_db as samples  # first: it looks for a Python that has PyTorch
import torch

import argand
from known import Known

warnings.filterwarnings("ignore")

# Separated by semicolons; of the tensors that tensors_of() makes.
EXPRESSIONS = """
    1-x ; 2-x ; x-1 ; x+1 ; 1+x ; x*2 ; 2*x ; x/2 ; 2/x ; x//2 ; 2//x ; x//x ; x%2 ; x%x ; 2%x ; x**2 ; 2**x ;
    x**x ; x**0.5 ; -x ; abs(x) ; x@x.T ; x@v ; v@x ; v@v ; b@b ; b@v3 ; x.t() ; v.t() ; x.T ; x.mT ; b.mT ; x.H ;
    b.mH ; x.adjoint() ; x.to(lib.float64) ; x.double() ; x.half() ; x.float() ; x.bfloat16() ;
    x.type(lib.float64) ; x.to(lib.complex64) ; x.clone() ; x.contiguous() ; x.t().contiguous() ; x.expand(2,3,3) ;
    x.expand_as(b) ; x.view(9) ; x.view(-1,1) ; x.reshape(9) ; x.t().reshape(9) ; x.flatten() ; x.t().flatten() ;
    x.ravel() ; x.unflatten(0,(1,3)) ; x.view_as(x) ; x.squeeze() ; x.squeeze(0) ; x.squeeze((0,1)) ;
    x.unsqueeze(0) ; x[0] ; x[1:] ; x[0:2] ; x[idx] ; x[...] ; x[None] ; x[:,0] ; x[:, idx] ; x[mask] ; x[0,0] ;
    x[idx,idx] ; x[::2] ; x[:] ; x[True] ; x.select(0,1) ; x.narrow(0,0,1) ; x.index_select(0,idx) ;
    x.gather(0,idx2) ; x.take(idx) ; x.masked_select(mask) ; x.masked_fill(mask,0.) ; x.masked_fill(mask,s) ;
    x.where(mask,x) ; x.where(mask,0.) ; lib.where(mask,1.,x) ; x.sum() ; x.sum(0) ; x.sum((0,1)) ; x.mean() ;
    x.mean(0) ; x.prod() ; x.prod(0) ; x.max() ; x.max(0)[0] ; x.max(x) ; x.min() ; x.min(0)[0] ; x.amax() ;
    x.amax(0) ; x.amin(0) ; x.aminmax()[0] ; x.std() ; x.std(0) ; x.std(correction=0) ; x.var() ; x.var(0) ;
    lib.var_mean(x)[0] ; lib.std_mean(x)[0] ; x.norm() ; x.norm(1) ; x.norm(2,0) ; x.norm(p=2,dim=0,keepdim=True) ;
    x.norm(p="fro") ; lib.linalg.norm(x) ; lib.linalg.vector_norm(x) ; lib.linalg.matrix_norm(x) ; x.logsumexp(0) ;
    x.cumsum(0) ; x.cumprod(0) ; x.cummax(0)[0] ; x.logcumsumexp(0) ; x.sort()[0] ; x.sort(stable=True)[0] ;
    x.argsort() ; x.topk(2)[0] ; x.kthvalue(1)[0] ; x.median() ; x.median(0)[0] ; x.nanmedian() ;
    x.nanmedian(0)[0] ; x.mode()[0] ; x.split(1)[0] ; x.split([1,2])[0] ; x.chunk(2)[0] ; x.unbind()[0] ;
    x.tensor_split(2)[0] ; x.hsplit(3)[0] ; x.vsplit(3)[0] ; x.unsafe_split(1)[0] ; x.unsafe_chunk(2)[0] ;
    lib.cat([x,x]) ; lib.stack([x,x]) ; lib.hstack([x,x]) ; lib.vstack([x,x]) ; lib.dstack([x,x]) ;
    lib.column_stack([x,x]) ; lib.block_diag(x,x) ; lib.atleast_2d(v) ; lib.atleast_3d(x) ;
    lib.broadcast_tensors(x,b)[0] ; lib.meshgrid(v,v,indexing="ij")[0] ; lib.cartesian_prod(v,v) ;
    lib.combinations(v) ; x.repeat(2,2) ; x.tile(2) ; x.repeat_interleave(2) ; x.repeat_interleave(2,0) ;
    x.roll(1) ; x.roll(1,0) ; x.flip(0) ; x.fliplr() ; x.flipud() ; x.rot90() ; x.tril() ; x.triu() ; x.diag() ;
    v.diag() ; x.diagonal() ; v.diag_embed() ; v.diagflat() ; x.trace() ; x.transpose(0,1) ; x.permute(1,0) ;
    x.movedim(0,1) ; x.moveaxis(0,1) ; x.swapaxes(0,1) ; x.swapdims(0,1) ; x.unfold(0,2,1) ;
    x.as_strided((2,2),(1,1)) ; x.exp() ; x.log() ; x.log2() ; x.log10() ; x.log1p() ; x.expm1() ; x.sqrt() ;
    x.rsqrt() ; x.square() ; x.reciprocal() ; x.sin() ; x.cos() ; x.tan() ; x.tanh() ; x.sigmoid() ; x.relu() ;
    x.asin() ; x.acos() ; x.atan() ; x.atan2(x) ; x.sinh() ; x.cosh() ; x.asinh() ; x.erf() ; x.erfc() ;
    x.erfinv() ; x.lgamma() ; x.ceil() ; x.floor() ; x.round() ; x.round(decimals=1) ; x.trunc() ; x.frac() ;
    x.sign() ; x.sgn() ; x.abs() ; x.clamp(0,1) ; x.clamp(min=0) ; x.clamp(max=1) ; x.clamp(min=x) ;
    x.clamp_min(0) ; x.clamp_max(1) ; x.clamp_min(x) ; x.clip(0,1) ; x.fmod(2) ; x.fmod(x) ; x.remainder(2) ;
    x.remainder(x) ; x.div(2,rounding_mode="floor") ; x.div(x,rounding_mode="trunc") ; x.true_divide(2) ;
    x.floor_divide(2) ; x.copysign(1) ; x.copysign(x) ; x.hypot(x) ; x.logaddexp(x) ; x.maximum(x) ; x.minimum(x) ;
    x.fmax(x) ; x.lerp(x,0.5) ; x.lerp(x,x) ; x.addcmul(x,x) ; x.addcdiv(x,x) ; x.ldexp(x) ; x.xlogy(x) ;
    x.xlogy(2) ; lib.xlogy(2,x) ; x.nan_to_num() ; x.deg2rad() ; x.logit() ; x.heaviside(x) ; x.dist(x) ;
    lib.cdist(b,b) ; F.pdist(x) ; x.matmul(x) ; x.mm(x) ; x.mv(v) ; v.dot(v) ; v.vdot(v) ; v.inner(v) ;
    x.inner(x) ; v.outer(v) ; v.ger(v) ; x.addmm(x,x) ; v.addmv(x,v) ; x.addr(v,v) ; b.baddbmm(b,b) ;
    x.addbmm(b,b) ; lib.einsum("ij,jk->ik",x,x) ; lib.einsum("ij->ji",x) ; lib.einsum("ii",x) ;
    lib.tensordot(x,x,1) ; lib.kron(x,x) ; lib.linalg.multi_dot([x,x]) ; lib.chain_matmul(x,x) ;
    x.matrix_power(2) ; x.matrix_exp() ; x.det() ; x.slogdet()[1] ; x.logdet() ; x.inverse() ; lib.linalg.inv(x) ;
    lib.linalg.solve(x,x) ; lib.linalg.cholesky(p) ; lib.linalg.qr(x)[0] ; lib.linalg.svd(x)[1] ;
    lib.linalg.svdvals(x) ; lib.linalg.eigh(p)[0] ; lib.linalg.eigvalsh(p) ; lib.linalg.eig(x)[0] ;
    lib.linalg.pinv(x) ; lib.linalg.lstsq(x,x)[0] ; lib.linalg.cross(x,x) ; lib.cross(x,x,dim=1) ; x.cov() ;
    x.corrcoef() ; F.linear(x,x) ; F.linear(x,x,v) ; F.linear(b,x) ; F.linear(b,x,v) ; F.linear(v,x) ;
    F.linear(v,x,v) ; F.linear(x,x,vn) ; F.bilinear(x,x,b,v3) ; F.conv2d(im,k) ; F.conv3d(im[None],k[None]) ;
    F.conv_transpose2d(im,k) ; F.conv_transpose3d(im[None],k[None]) ; F.max_pool1d(im[0],2) ; F.max_pool2d(im,2) ;
    F.max_pool3d(im[None],1) ; F.avg_pool1d(im[0],2) ; F.avg_pool2d(im,2) ; F.avg_pool3d(im[None],1) ;
    F.adaptive_avg_pool1d(im[0],2) ; F.adaptive_avg_pool2d(im,2) ; F.adaptive_avg_pool2d(im,1) ;
    F.adaptive_avg_pool3d(im[None],1) ; F.adaptive_max_pool1d(im[0],2) ; F.adaptive_max_pool2d(im,2) ;
    F.adaptive_max_pool3d(im[None],1) ; F.lp_pool2d(im,2.,2) ; F.fractional_max_pool2d(im,2,output_size=2) ;
    F.max_unpool2d(*F.max_pool2d(im,2,return_indices=True),2) ; F.batch_norm(im,None,None,training=True) ;
    F.instance_norm(im) ; F.layer_norm(x,(3,)) ; F.group_norm(im,1) ; F.rms_norm(x,(3,)) ;
    F.local_response_norm(im,2) ; F.normalize(x) ; F.softmax(x,0) ; F.log_softmax(x,0) ; F.softmin(x,0) ;
    x.softmax(0) ; F.gumbel_softmax(x) ; F.relu(x) ; F.relu6(x) ; F.leaky_relu(x) ; F.elu(x) ; F.selu(x) ;
    F.celu(x) ; F.gelu(x) ; F.silu(x) ; F.mish(x) ; F.hardswish(x) ; F.hardsigmoid(x) ; F.hardtanh(x) ;
    F.hardshrink(x) ; F.softshrink(x) ; F.softplus(x) ; F.softsign(x) ; F.tanhshrink(x) ; F.threshold(x,0.,0.) ;
    F.prelu(x,v[:1]) ; F.rrelu(x) ; F.rrelu(x,training=True) ; F.logsigmoid(x) ; F.glu(lib.cat([x,x],1)) ;
    F.sigmoid(x) ; F.tanh(x) ; F.dropout(x) ; F.dropout(x,0.) ; F.dropout(x,training=False) ; F.dropout2d(im) ;
    F.alpha_dropout(x,training=True) ; F.feature_alpha_dropout(im,training=True) ; F.embedding(idx,x) ;
    F.embedding_bag(idx[None],x) ; F.one_hot(idx) ; F.mse_loss(x,x) ; F.mse_loss(x,x,reduction="none") ;
    F.l1_loss(x,x) ; F.l1_loss(x,x,reduction="none") ; F.l1_loss(x,x,reduction="sum") ; F.smooth_l1_loss(x,x) ;
    F.huber_loss(x,x) ; F.cross_entropy(x,idx) ; F.cross_entropy(x,x) ; F.cross_entropy(im,idxim) ;
    F.cross_entropy(x,idx,reduction="none") ; F.cross_entropy(x,idx,label_smoothing=0.1) ; F.nll_loss(x,idx) ;
    F.nll_loss(im,idxim) ; F.binary_cross_entropy(pr,prn) ; F.binary_cross_entropy(pr,prn,reduction="none") ;
    F.binary_cross_entropy_with_logits(x,prn) ; F.kl_div(x,prn) ; F.kl_div(x,prn,reduction="batchmean") ;
    F.poisson_nll_loss(x,prn) ; F.gaussian_nll_loss(x,prn,prn) ; F.hinge_embedding_loss(x,prn) ;
    F.soft_margin_loss(x,prn) ; F.margin_ranking_loss(x,x,prn) ; F.cosine_embedding_loss(x,x,lib.ones(3)) ;
    F.cosine_similarity(x,x) ; F.pairwise_distance(x,x) ; F.triplet_margin_loss(x,x,x) ;
    F.multi_margin_loss(x,idx) ; F.multilabel_margin_loss(x,idx.expand(3,3)) ;
    F.multilabel_soft_margin_loss(x,prn) ;
    F.ctc_loss(F.log_softmax(b,2),lib.ones(3,1,dtype=lib.long),(3,3,3),(1,1,1)) ; F.pad(x,(1,1)) ;
    F.pad(im,(1,1,1,1),mode="replicate") ; F.pad(im,(1,1,1,1),mode="circular") ; F.interpolate(im,scale_factor=2) ;
    F.interpolate(im,scale_factor=2,mode="bilinear") ; F.interpolate(im,scale_factor=2,mode="bicubic") ;
    F.interpolate(im[0],scale_factor=2,mode="linear") ; F.interpolate(im,scale_factor=2,mode="area") ;
    F.interpolate(im,scale_factor=2,mode="nearest-exact") ;
    F.interpolate(im,scale_factor=2,mode="bilinear",antialias=True) ;
    F.grid_sample(im,lib.zeros(1,2,2,2),align_corners=False) ;
    F.affine_grid(lib.ones(1,2,3,requires_grad=True),(1,1,2,2),align_corners=False) ; F.unfold(im,2) ;
    F.fold(F.unfold(im,2),(4,4),2) ; F.pixel_shuffle(im.expand(1,4,4,4),2) ; F.pixel_unshuffle(im[:,:,:4,:4],2) ;
    F.channel_shuffle(im,1) ; F.scaled_dot_product_attention(b,b,b) ; x.index_add(0,idx,x) ;
    x.index_copy(0,idx,x) ; x.index_fill(0,idx,0.) ; x.index_fill(0,idx,s) ; x.index_put((idx,),v) ;
    x.index_reduce(0,idx,x,"prod") ; x.scatter(0,idx2,x) ; x.scatter(0,idx2,1.) ;
    x.scatter(0,idx2,x,reduce="add") ; x.scatter_add(0,idx2,x) ; x.scatter_reduce(0,idx2,x,"sum") ;
    x.masked_scatter(mask,x) ; x.put(idx,v) ; x.take_along_dim(idx2,0) ; x.select_scatter(v,0,0) ;
    x.slice_scatter(x[:1],0,0,1) ; x.diagonal_scatter(v) ; x.as_strided_scatter(v,(3,),(1,)) ; x.renorm(2,0,1.) ;
    x.diff() ; lib.trapz(x) ; lib.cumulative_trapezoid(x) ; x.quantile(0.5) ; x.nanquantile(0.5) ; x.nansum() ;
    x.nanmean() ; x.logit(0.1) ; lib.fft.fft(x) ; lib.fft.rfft(x) ; lib.fft.ifft(x) ; lib.fft.irfft(x) ;
    lib.fft.fft2(x) ; lib.fft.fftshift(x) ; lib.stft(x.flatten(),4,return_complex=True) ; lib.complex(x,x) ;
    lib.polar(x,x) ; lib.view_as_real(c) ; lib.view_as_complex(x.expand(2,3,3)[:,:,:2].contiguous()) ; c.real ;
    c.imag ; c.conj() ; c.conj_physical() ; c.resolve_conj() ; c.abs() ; c.angle() ; c.sgn() ;
    lib.special.entr(x) ; lib.special.i0(x) ; lib.special.i1(x) ; lib.special.ndtr(x) ; lib.special.ndtri(pr) ;
    lib.special.log_ndtr(x) ; lib.special.expit(x) ; lib.special.xlog1py(x,x) ; lib.special.polygamma(1,x) ;
    lib.special.erfcx(x) ; lib.sinc(x) ; lib.bernoulli(pr) ; lib.normal(x,1.) ; lib.normal(x,x) ;
    lib.normal(0.,x) ; lib.rand_like(x) ; lib.vander(v) ; lib.float_power(x,2) ; lib.float_power(2,x) ;
    x.detach().requires_grad_()*1 ; x.view(lib.int32).view(lib.float32) ; x.new_tensor(1.) ; lib.squeeze_copy(x) ;
    lib.view_copy(x,(9,)) ; lib.t_copy(x) ; lib.expand_copy(x,(2,3,3)) ; lib.transpose_copy(x,0,1) ;
    lib.permute_copy(x,(1,0)) ; lib.select_copy(x,0,0) ; lib.slice_copy(x,0,0,1) ; lib.unsqueeze_copy(x,0) ;
    lib.diagonal_copy(x) ; lib.alias_copy(x) ; lib.as_strided_copy(x,(2,),(1,)) ; lib.unfold_copy(x,0,2,1) ;
    lib.unbind_copy(x)[0] ; lib.split_copy(x,1)[0] ; lib.view_as_real_copy(c) ;
    lib.nn.utils.rnn.pad_sequence([v,v]) ; lib.nn.Linear(3,2)(x) ; lib.dropout(x,0.5,True) ;
    lib.addcmul(x,x,x,value=2) ; lib.add(x,x,alpha=2) ; lib.sub(x,1,alpha=2) ; lib.sum(x,dtype=lib.float64) ;
    x.sum_to_size(1,3) ; x.expand(3,3) ; x.reshape(3,3) ; x.to(x.dtype) ; x.to(lib.float64).to(lib.float32) ;
    x.broadcast_to((2,3,3)) ; x.frexp()[0] ; x.logaddexp2(x) ; x.exp2() ; x.positive() ; x.neg() ; x.negative() ;
    x.i0() ; x.nextafter(x) ; x.mvlgamma(1) ; x.polygamma(1) ; x.cholesky_inverse() ; lib.cholesky_solve(x,p) ;
    lib.linalg.solve_triangular(x,x,upper=True) ; lib.triangular_solve(x,x)[0] ;
    lib.lu_solve(x,*lib.linalg.lu_factor(x)) ; lib.linalg.lu_factor(x)[0] ; lib.linalg.lu(x)[1] ;
    lib.lu_unpack(*lib.linalg.lu_factor(x))[1] ; lib.linalg.householder_product(x,v) ;
    lib.ormqr(x.detach(),v.detach(),x) ; lib.linalg.matrix_norm(x,2) ; lib.linalg.cond(x) ;
    lib.linalg.tensorinv(x.reshape(3,3),ind=1) ; lib.linalg.tensorsolve(x,v) ; lib.linalg.vecdot(x,x) ;
    lib.linalg.diagonal(x) ; lib.linalg.matrix_exp(x) ; lib.linalg.vander(v) ; ip(lambda t: t.add_(1)) ;
    ip(lambda t: t.mul_(2)) ; ip(lambda t: t.copy_(x)) ; ip(lambda t: t.zero_()) ; ip(lambda t: t.fill_(1)) ;
    ip(lambda t: t.fill_(s)) ; ip(lambda t: t.__setitem__(0,0.) or t) ; ip(lambda t: t.__setitem__(0,v) or t) ;
    ip(lambda t: t.__setitem__(slice(None),x) or t) ; ip(lambda t: t.__setitem__(mask,0.) or t) ;
    ip(lambda t: t.__setitem__(idx,v) or t) ; ip(lambda t: t.__setitem__((0,0),s) or t) ;
    ip(lambda t: t.__setitem__(Ellipsis,0.) or t) ; ip(lambda t: t[0].mul_(2)) ; ip(lambda t: t[0].zero_()) ;
    ip(lambda t: t.t_()) ; ip(lambda t: t.squeeze_()) ; ip(lambda t: t.unsqueeze_(0)) ;
    ip(lambda t: t.transpose_(0,1)) ; ip(lambda t: t.relu_()) ; ip(lambda t: t.masked_fill_(mask,0.)) ;
    ip(lambda t: t.normal_()) ; ip(lambda t: t.uniform_()) ; ip(lambda t: t.bernoulli_(0.5)) ;
    ip(lambda t: t.exponential_()) ; ip(lambda t: t.clamp_(0,1)) ; ip(lambda t: t.index_put_((idx,),v)) ;
    ip(lambda t: t.scatter_(0,idx2,1.)) ; ip(lambda t: t.index_fill_(0,idx,0.)) ; ip(lambda t: t.addmm_(x,x)) ;
    ip(lambda t: t.div_(2)) ; ip(lambda t: t.pow_(2)) ; ip(lambda t: t.sub_(x)) ; ip(lambda t: t.tril_()) ;
    ip(lambda t: t.renorm_(2,0,1.)) ; ip(lambda t: t.put_(idx,v)) ; ip(lambda t: t.lerp_(x,0.5)) ;
    ip(lambda t: t.addcmul_(x,x)) ; ip(lambda t: t.random_()) ; ip(lambda t: t.cauchy_()) ;
    ip(lambda t: t.log_normal_()) ; ip(lambda t: t.geometric_(0.5)) ; lib.rsub(x, 1) ; lib.rsub(x, x) ;
    F.pad(im[0], (1, 1), mode="reflect") ; F.pad(im, (1, 1, 1, 1), mode="reflect") ; b.bmm(b)
"""


def tensors_of(lib):
    def leaf(t):
        return t.requires_grad_()
    x = leaf(lib.tensor([[2., 0.5, 0.1], [0.2, 3., 0.3], [0.4, 0.1, 1.5]]))
    mask = lib.tensor([[True, False, True]] * 3)
    return {
        "lib": lib, "F": lib.nn.functional, "x": x, "v": leaf(lib.tensor([1., 2., 3.])), "v3": leaf(lib.tensor([1., 2., 3.])),
        "vn": lib.ones(3), "b": leaf(lib.rand(3, 3, 3)), "im": leaf(lib.rand(1, 1, 4, 4)), "k": leaf(lib.ones(1, 1, 2, 2)),
        "idx": lib.tensor([0, 1, 2]), "idx2": lib.tensor([[0, 1, 2]]), "mask": mask, "s": leaf(lib.tensor(1.)),
        "p": leaf(lib.eye(3) * 2), "pr": leaf(lib.full((3, 3), 0.5)), "prn": lib.full((3, 3), 0.5),
        "idxim": lib.zeros(1, 4, 4, dtype=lib.long), "c": leaf(lib.ones(3, 3, dtype=lib.complex64)),
        "ip": lambda f: f(x.clone())}


def name_of(tensor):
    return "none" if tensor.grad_fn is None else type(tensor.grad_fn).__name__


def names_of(results, lib):
    """The names of the results' graph nodes, each once; "none" where a result has no node."""
    found = [name_of(t) for t in samples.flatten(results) if isinstance(t, lib.Tensor)]
    return ", ".join(dict.fromkeys(found))


def of_expression(text, lib):
    lib.manual_seed(0)
    return names_of(eval(text, tensors_of(lib)), lib)


def of_samples(op, most):
    """Pairs of names, one for each sample that both libraries take."""
    function = samples.function_of(op)
    if function is None or not op.supports_autograd:
        return
    for dtype in (torch.float32, torch.complex64):
        if dtype not in op.dtypes:
            continue
        for _, sample in samples.samples_of(op, dtype, most):
            leaves = []
            try:
                arguments = [samples.to_argand(a, leaves) for a in (sample.input, *sample.args)]
                keywords = samples.to_argand(sample.kwargs, leaves)
                theirs = op.op(sample.input, *sample.args, **sample.kwargs)
                ours = function(*arguments, **keywords)
            except Exception:  # op_db.py tells who refuses what
                continue
            yield names_of(theirs, torch), names_of(ours, argand)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=12, help="at most, of an operator and dtype")
    parser.add_argument("operators", nargs="*")
    args = parser.parse_args()
    known = Known(Path(__file__).parent / "node_names_known.txt")
    passed, failures = 0, {}

    def compare(entry, theirs, ours):
        nonlocal passed
        passed += 1
        if theirs == ours:
            return
        note = f"{theirs} -> {ours}"
        if not known.explains(lambda line: line.names(entry) and line.difference == note):
            passed -= 1
            failures[entry, note] = None

    for op in samples.op_db:
        if args.operators and op.name not in args.operators:
            continue
        entry = op.name + (f" ({op.variant_test_name})" if op.variant_test_name else "")
        for theirs, ours in of_samples(op, args.samples):
            compare(entry, theirs, ours)
    if not args.operators:
        for text in " ".join(EXPRESSIONS.split()).split(";"):
            text = text.strip()
            compare(text, of_expression(text, torch), of_expression(text, argand))
    for entry, note in failures:
        print(f"{entry} | {note} | ?")
    stale = [] if args.operators else known.stale()
    print("".join(f"{line}\n" for line in stale), end="")
    print(f"{passed} passed, {len(failures) + len(stale)} failed")
    return 1 if failures or stale else 0


if __name__ == "__main__":
    sys.exit(main())
