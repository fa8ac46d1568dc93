// What the pieces of C++ on pages take for granted: a model, an optimizer and a batch, new for each piece.
#pragma once
#include <argand/argand.h>

#include <iostream>

#define SURROUNDINGS                                                                      \
  argand::nn::Sequential model(argand::nn::Linear(4, 8), argand::nn::Linear(8, 3));       \
  argand::optim::SGD optimizer(model->parameters(), argand::optim::SGDOptions(0.1));      \
  const argand::Tensor x = argand::randn({6, 4}), y = argand::tensor({0, 1, 2, 0, 1, 2}); \
  argand::Tensor loss;
