"""Objects of tensors that nobody in Python holds, while the tensors live on."""
import gc
import weakref

import argand as torch


class Mine(torch.Tensor):
    pass


class Thing:
    pass


def test_attributes_and_classes_are_kept():
    holder, x = torch.empty(2), torch.empty(2)
    x.name = "x"
    holder.grad = x
    del x
    for _ in range(3):  # each time the object is given back, and kept again
        assert holder.grad.name == "x"
    x = Mine(torch.empty(2))
    number = id(x)
    holder.grad = x
    del x
    for _ in range(3):
        gc.collect()
        assert type(holder.grad) is Mine and id(holder.grad) == number


def test_a_kept_object_goes_with_its_tensor():
    thing = Thing()
    alive = weakref.ref(thing)
    holder, x = torch.empty(2), torch.empty(2)
    x.thing = thing
    holder.grad = x
    del x, thing
    gc.collect()
    assert alive() is not None
    holder.grad = None
    assert alive() is None  # without the garbage collector


def test_a_kept_object_keeps_no_memory():
    x, holder = torch.empty(2), torch.empty(2)
    x.name = "x"
    holder.grad = x
    del x
    holder.grad.add_(1)
    assert holder.grad.name == "x" and holder.grad.shape == (2,)


def test_cycles_of_kept_objects_are_collected():
    thing = Thing()
    alive = weakref.ref(thing)
    x, y, holder = torch.empty(2), torch.empty(2), torch.empty(2)
    x.thing, x.other, y.other = thing, y, x
    holder.grad = x
    del x, y, thing
    gc.collect()
    assert alive() is not None and holder.grad.other.other is holder.grad
    del holder
    gc.collect()
    assert alive() is None


def test_a_gradient_that_refers_to_its_tensor_is_collected():
    thing = Thing()
    alive = weakref.ref(thing)
    x, gradient = torch.empty(2), torch.empty(2)
    gradient.thing, gradient.of = thing, x
    x.grad = gradient
    del x, gradient, thing
    gc.collect()
    assert alive() is None


def test_a_parameter_in_a_graph_is_the_same_parameter():
    p = torch.nn.Parameter(torch.ones(2))
    p.name, number = "weight", id(p)
    loss = (p * 2).sum()
    del p
    leaf = loss.grad_fn.next_functions[0][0].next_functions[0][0].variable
    assert isinstance(leaf, torch.nn.Parameter) and leaf.name == "weight" and id(leaf) == number
    loss.backward()
    assert leaf.grad.tolist() == [2, 2]


def test_the_hash_of_a_tensor_is_its_id():
    x = torch.ones(1)
    assert hash(x) == id(x)


def test_the_object_of_a_storage_is_the_same_while_it_is_held():
    x = torch.ones(4)
    storage = x.untyped_storage()
    storage.name = "s"
    assert x[1:].untyped_storage() is storage and x.untyped_storage().name == "s"
    x.resize_(100)
    assert x.untyped_storage().nbytes() == 400
