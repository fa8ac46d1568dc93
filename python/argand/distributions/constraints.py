"""Sets of values of parameters and results: check(value) says of each element (or vector) whether it is in the set."""
from .. import _C


class Constraint:
    """A set of values; its elements have event_dim dimensions."""
    is_discrete, event_dim = False, 0

    def __init__(self, name, check, is_discrete=False, event_dim=0):
        self._name, self._check, self.is_discrete, self.event_dim = name, check, is_discrete, event_dim

    def check(self, value):
        """Whether each value is in the set, a tensor of bools."""
        return self._check(value)

    def __repr__(self):
        return self._name


def _vectors(elements):
    return lambda value: elements(value).all(-1)


def independent(base_constraint, reinterpreted_batch_ndims):
    """All of the last dimensions together are in the set, or not."""
    def check(value):
        result = base_constraint.check(value)
        return result.flatten(result.dim() - reinterpreted_batch_ndims).all(-1) if reinterpreted_batch_ndims else result
    return Constraint(f"Independent({base_constraint}, {reinterpreted_batch_ndims})", check, base_constraint.is_discrete,
                      base_constraint.event_dim + reinterpreted_batch_ndims)


def interval(lower_bound, upper_bound):
    """From lower_bound to upper_bound, both included."""
    return Constraint(f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})",
                      lambda value: (lower_bound <= value) & (value <= upper_bound))


def integer_interval(lower_bound, upper_bound):
    """The whole numbers of an interval."""
    return Constraint(f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
                      lambda value: (value % 1 == 0) & (lower_bound <= value) & (value <= upper_bound), True)


def greater_than(lower_bound):
    """What is greater."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda value: lower_bound < value)


def greater_than_eq(lower_bound):
    """What is not less."""
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda value: lower_bound <= value)


half_open_interval = interval
dependent = Constraint("Dependent()", None)
boolean = Constraint("Boolean()", lambda value: (value == 0) | (value == 1), True)
one_hot = Constraint("OneHot()", lambda value: ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1), True, 1)
nonnegative_integer = Constraint("IntegerGreaterThan(lower_bound=0)", lambda value: (value % 1 == 0) & (value >= 0), True)
real = Constraint("Real()", lambda value: value == value)
real_vector = Constraint("IndependentConstraint(Real(), 1)", _vectors(lambda value: value == value), event_dim=1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = Constraint("Simplex()", lambda value: (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6), event_dim=1)


def is_dependent(constraint):
    """Whether the set is known only of a distribution with its parameters."""
    return constraint is dependent


def as_tensors(*values):
    """Numbers and tensors, broadcast to one shape; numbers get the dtype of the first tensor."""
    first = next((v for v in values if isinstance(v, _C.Tensor)), None)
    options = {} if first is None else {"dtype": first.dtype, "device": first.device}
    if first is None:
        options["dtype"] = _C.get_default_dtype()
    return _C.broadcast_tensors([v if isinstance(v, _C.Tensor) else _C.tensor(v, **options) for v in values])
