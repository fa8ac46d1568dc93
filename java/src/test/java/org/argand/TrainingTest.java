package org.argand;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.argand.nn.*;
import org.argand.nn.Module;
import org.argand.optim.Optimizer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingTest {
  @TempDir Path folder;

  @Test
  void gradients() {
    Tensor x = Tensor.of(new double[] {1, 2, 3}, 3).setRequiresGrad(true);
    assertNull(x.grad());
    x.mul(x).sum().backward();
    assertArrayEquals(new double[] {2, 4, 6}, x.grad().toDoubles());
    Tensor cube = x.pow(3).sum();
    Tensor first = Tensor.gradients(new Tensor[] {cube}, new Tensor[] {x}, true, true)[0];
    Tensor second = Tensor.gradients(new Tensor[] {first.sum()}, new Tensor[] {x}, false, false)[0];
    assertArrayEquals(new double[] {6, 12, 18}, second.toDoubles());
    assertNull(Tensor.gradients(new Tensor[] {x.sum()}, new Tensor[] {Tensor.scalar(1).setRequiresGrad(true)}, false, false)[0]);
    try (Argand.NoGrad none = Argand.noGrad()) {
      assertFalse(x.mul(2).requiresGrad());
    }
    assertTrue(x.mul(2).requiresGrad());
    x.setGrad(null);
    assertNull(x.grad());
  }

  /** torch.manual_seed(0); torch.nn.Linear(2, 2) */
  @Test
  void pytorchsNumbers() {
    Argand.manualSeed(0);
    Linear layer = new Linear(2, 2);
    assertArrayEquals(new float[] {-0.0053f, 0.3793f, -0.5820f, -0.5204f}, layer.weight.toFloats(), 5e-5f);
    assertArrayEquals(new float[] {-0.2723f, 0.1896f}, layer.bias.toFloats(), 5e-5f);
  }

  private static Sequential network() {
    return new Sequential(
        new Conv2d(1, 4, 3, 1, 1), new BatchNorm2d(4), new ReLU(), new MaxPool2d(2), new AvgPool2d(2),
        new AdaptiveAvgPool2d(1, 1), new Flatten(), new LayerNorm(4), new Dropout(0.1), new Linear(4, 3));
  }

  @Test
  void layersTrainAndAreSaved() {
    Argand.manualSeed(1);
    Sequential net = network();
    Tensor x = Ops.randn(new long[] {6, 1, 8, 8});
    Tensor y = Tensor.of(new long[] {0, 1, 2, 0, 1, 2}, 6);
    Optimizer optimizer = Optimizer.adam(net.parameters(), 1e-2);
    double first = 0;
    double last = 0;
    for (int i = 0; i < 60; ++i) {
      try (Scope scope = Argand.scope()) {
        optimizer.zeroGrad();
        Tensor loss = Ops.cross_entropy_loss(net.forward(x), y);
        loss.backward();
        optimizer.step();
        if (i == 0) first = loss.item();
        last = loss.item();
      }
    }
    assertTrue(last < first - 0.2, first + " -> " + last);
    assertEquals(60, net.namedTensors().get("1.num_batches_tracked").itemLong());
    String path = folder.resolve("net.safetensors").toString();
    net.save(path);
    Sequential copy = network();
    copy.load(path);
    net.eval();
    copy.eval();
    assertTrue(net.forward(x).equal(copy.forward(x)));
    copy.to(DType.FLOAT64);
    assertEquals(DType.FLOAT64, copy.namedTensors().get("0.weight").dtype());
    assertEquals(DType.INT64, copy.namedTensors().get("1.num_batches_tracked").dtype());
    ArgandException e = assertThrows(ArgandException.class, () -> new Sequential(new Linear(2, 2)).load(path));
    assertTrue(e.getMessage().contains("unexpected: 1.weight") && e.getMessage().contains("shape of 0.weight"), e.getMessage());
    try (Scope scope = Argand.scope()) {
      Module inScope = new Linear(2, 2);
      scope.close();
      assertFalse(inScope.parameters().get(0).isClosed());
    }
  }

  @Test
  void embeddingsAndOptimizers() {
    Embedding table = new Embedding(5, 3);
    Tensor before = table.weight.detach().clone();
    Optimizer sgd = Optimizer.sgd(table.parameters(), 0.5, 0.9);
    table.forward(Tensor.of(new long[] {1, 1, 4}, 3)).sum().backward();
    sgd.step();
    float[] moved = before.sub(table.weight).detach().toFloats();
    assertArrayEquals(new float[] {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0.5f, 0.5f, 0.5f}, moved, 1e-6f);
    assertEquals(0.9, sgd.option("momentum"));
    sgd.setOption("lr", 0.25);
    assertEquals(0.25, sgd.option("lr"));
    assertThrows(ArgandException.class, () -> sgd.setOption("lr", -1));
    assertThrows(ArgandException.class, () -> Optimizer.of("Sgd", table.parameters(), Map.of()));
    assertThrows(ArgandException.class, () -> Optimizer.of("Adam", table.parameters(), Map.of("momentum", 1.0)));
    assertThrows(NullPointerException.class, () -> Optimizer.of("Adam", java.util.Arrays.asList((Tensor) null), Map.of()));
    StateDict state = sgd.stateDict();
    Optimizer other = Optimizer.sgd(List.of(table.weight), 0.1, 0.1);
    other.loadStateDict(state);
    assertEquals(0.25, other.option("lr"));
  }

  @Test
  void stateDicts() throws java.io.IOException {
    StateDict state = StateDict.of(Map.of("a.weight", Tensor.of(new float[] {1, 2}, 2)));
    state.put("b", Tensor.scalar(3));
    state.putText("note", "\u00e4");
    String path = folder.resolve("state.safetensors").toString();
    state.save(path);
    StateDict read = StateDict.load(path);
    assertEquals(java.util.Set.of("a.weight", "b"), new java.util.HashSet<>(read.names()));
    assertArrayEquals(new float[] {1, 2}, read.tensors().get("a.weight").toFloats());
    assertEquals("\u00e4", read.text("note"));
    assertNull(read.text("other"));
    Files.writeString(Path.of(path), "not a file of tensors");
    assertThrows(ArgandException.class, () -> StateDict.load(path));
  }
}
