"""The average of the weights, by hand."""

import torch
from torch import nn

from evaluator.comparator.training.loop import Average


def test_the_average_is_that_of_the_trained_weights_since_it_was_cleared():
    model = nn.Linear(1, 1)
    model.bias.requires_grad_(False)
    average = Average(model)
    for value in (100.0, 1.0, 2.0, 6.0):
        model.weight.data.fill_(value)
        model.bias.data.fill_(value)
        if value == 1.0:
            average.clear()
        average.add()
    taken = average.taken()
    assert taken.weight.item() == torch.tensor(3.0)  # (1 + 2 + 6) / 3
    assert taken.bias.item() == 6.0  # not trained: as it is
    assert model.weight.item() == 6.0
