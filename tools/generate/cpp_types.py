"""How schema types look in C++: as a field of an argument struct, as a parameter, and from the one to the other."""
import re

# type -> (field, parameter, conversion of the parameter `{}` to the field)
TYPES = {
    "Tensor": ("Tensor", "const Tensor&", "{}"),
    "Tensor|Scalar": ("Tensor", "const Tensor&", "{}"),
    "Tensor?": ("Tensor", "const std::optional<Tensor>&", "{}.value_or(Tensor())"),
    "Tensor[]": ("std::vector<Tensor>", "TensorList", "{}.vec()"),
    "Tensor?[]": ("std::vector<Tensor>", "TensorList", "{}.vec()"),
    "int": ("int64_t", "int64_t", "{}"),
    "int?": ("std::optional<int64_t>", "std::optional<int64_t>", "{}"),
    "float": ("double", "double", "{}"),
    "float?": ("std::optional<double>", "std::optional<double>", "{}"),
    "bool": ("bool", "bool", "{}"),
    "bool?": ("std::optional<bool>", "std::optional<bool>", "{}"),
    "str": ("std::string", "std::string_view", "std::string({})"),
    "str?": ("std::optional<std::string>", "std::optional<std::string_view>", "std::optional<std::string>({})"),
    "Scalar": ("Scalar", "const Scalar&", "{}"),
    "Scalar?": ("std::optional<Scalar>", "const std::optional<Scalar>&", "{}"),
    "Scalar[]": ("std::vector<Scalar>", "ArrayRef<Scalar>", "{}.vec()"),
    "ScalarType": ("ScalarType", "ScalarType", "{}"),
    "ScalarType?": ("std::optional<ScalarType>", "std::optional<ScalarType>", "{}"),
    "Device": ("Device", "Device", "{}"),
    "Device?": ("std::optional<Device>", "std::optional<Device>", "{}"),
    "MemoryFormat": ("MemoryFormat", "MemoryFormat", "{}"),
    "MemoryFormat?": ("std::optional<MemoryFormat>", "std::optional<MemoryFormat>", "{}"),
    "Generator?": ("std::optional<Generator>", "std::optional<Generator>", "{}"),
    "TensorOptions": ("TensorOptions", "TensorOptions", "{}"),
    "float[]": ("std::vector<double>", "ArrayRef<double>", "{}.vec()"),
    "float[]?": ("std::optional<std::vector<double>>", "std::optional<ArrayRef<double>>", "argand::ops::to_vector({})"),
}
INT_LIST = re.compile(r"int\[(\d*)\](\?)?")
BOOL_LIST = re.compile(r"bool\[(\d+)\]")
RETURNS = {"Tensor": "Tensor", "Tensor[]": "std::vector<Tensor>", "bool": "bool", "int": "int64_t", "Scalar": "Scalar",
           "float": "double"}


def lookup(arg_type):
    m = BOOL_LIST.fullmatch(arg_type)
    if m:
        array = f"std::array<bool, {m.group(1)}>"
        return (array, array, "{}")
    m = INT_LIST.fullmatch(arg_type)
    if not m:
        if arg_type not in TYPES:
            raise KeyError(f"unknown schema type '{arg_type}'")
        return TYPES[arg_type]
    count, optional = m.groups()
    # `int[2] stride=1`: one number stands for all.
    if optional:
        convert = f"argand::ops::to_dims({{}}, {count})" if count and int(count) > 1 else "argand::ops::to_dims({})"
        return ("std::optional<Dims>", "OptionalIntArrayRef", convert)
    convert = f"argand::ops::to_dims({{}}, {count})" if count and int(count) > 1 else "Dims({})"
    return ("Dims", "IntArrayRef", convert)


def field_type(a):
    return lookup(a.type)[0]


def parameter_type(a):
    return lookup(a.type)[1]


def to_field(a):
    return lookup(a.type)[2].format(a.name)


def result_type(schema):
    if not schema.returns:
        return "void"
    if len(schema.returns) == 1:
        return RETURNS[schema.returns[0]]
    return "std::tuple<" + ", ".join(RETURNS[r] for r in schema.returns) + ">"


WORDS = {"None": "{}", "True": "true", "False": "false", "Mean": "Reduction::Mean", "Sum": "Reduction::Sum",
         "contiguous_format": "MemoryFormat::Contiguous", "preserve_format": "MemoryFormat::Preserve"}


def default_value(a, as_field):
    """The C++ text of a default, for a parameter or a field."""
    if a.default is None:
        return None
    d = a.default
    if d in WORDS:
        if d == "None" and not as_field:
            return {"Tensor?": "{}", "Generator?": "std::nullopt"}.get(a.type, "{}" if a.type == "TensorOptions" else "std::nullopt")
        return WORDS[d]
    if d.startswith("'"):
        return '"' + d[1:-1] + '"'
    if d.startswith("["):
        return ("Dims{" if as_field else "{") + d[1:-1] + "}"
    m = INT_LIST.fullmatch(a.type)
    if m and as_field:
        return "Dims{" + ", ".join([d] * max(1, int(m.group(1) or 1))) + "}"
    return d
