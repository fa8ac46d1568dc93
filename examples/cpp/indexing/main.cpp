// What stands between the brackets in Python: integers, slices, ellipsis, masks, lists of indices; reading and writing.
#include <torch/torch.h>

#include <iostream>

using namespace torch::indexing;

int main() {
  torch::Tensor board = torch::arange(24).reshape({2, 3, 4});
  std::cout << board << '\n';

  std::cout << "board[1]\n" << board[1] << '\n';
  std::cout << "board[0, 1:, ::2]\n" << board.index({0, Slice(1, None), Slice(None, None, 2)}) << '\n';
  std::cout << "board[..., -1]\n" << board.index({"...", -1}) << '\n';
  std::cout << "board[:, None, 2, :2].shape " << board.index({Slice(), None, 2, Slice(None, 2)}).sizes() << '\n';
  std::cout << "board[board % 5 == 0]\n" << board.index({board % 5 == 0}) << '\n';
  const torch::Tensor rows = torch::tensor({2, 0}), columns = torch::tensor({1, 3});
  std::cout << "board[1, rows, columns]\n" << board.index({1, rows, columns}) << '\n';

  torch::Tensor grid = torch::zeros({4, 5});
  grid.index_put_({Slice(1, 3), Slice(1, 4)}, 1);
  grid.index_put_({0, Ellipsis}, torch::linspace(0, 1, 5));
  grid.index_put_({grid == 1}, 0.25);
  grid[3][4] = -1.5;
  grid[2] += 0.5;
  std::cout << grid << '\n';

  auto cells = grid.accessor<float, 2>();
  float diagonal = 0;
  for (int64_t i = 0; i < cells.size(0); ++i) diagonal += cells[i][i];
  std::cout << "diagonal " << diagonal << '\n';

  std::cout << grid.select(1, 2) << '\n' << grid.narrow(0, 1, 2).sizes() << '\n';
  std::cout << torch::gather(grid, 1, torch::tensor({{4, 0}, {1, 1}, {2, 2}, {3, 4}})) << '\n';
  std::cout << std::get<1>(grid.max(1)) << '\n' << grid.t().contiguous().strides() << '\n';
  try {
    board.index({5});
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
}
