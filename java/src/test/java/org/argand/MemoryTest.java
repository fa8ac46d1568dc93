package org.argand;

import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.junit.jupiter.api.Test;

/** Native memory that nobody frees by hand. */
class MemoryTest {
  private static long residentMegabytes() throws IOException {
    return Long.parseLong(Files.readString(Paths.get("/proc/self/statm")).split(" ")[1]) * 4 / 1024;
  }

  @Test
  void aMillionTensorsWithoutClose() throws IOException {
    Tensor one = Tensor.scalar(1);
    for (int i = 0; i < 300_000; ++i) one.add(1);
    long before = residentMegabytes();
    for (int i = 0; i < 1_000_000; ++i) one.add(1);
    assertTrue(residentMegabytes() - before < 200, "grew by " + (residentMegabytes() - before) + " MB");
    assertTrue(Argand.liveBytes() < 512L << 20);
  }

  @Test
  void largeTensorsWithoutClose() throws IOException {
    Tensor large = Ops.ones(new long[] {1 << 20}); // 4 MB; 500 of them are 2 GB
    large.add(1).select(0, 0).item();
    long before = residentMegabytes();
    for (int i = 0; i < 500; ++i) large.add(1).select(0, 0).item();
    assertTrue(residentMegabytes() - before < 600, "grew by " + (residentMegabytes() - before) + " MB");
  }

  @Test
  void closedTensorsAreCountedNoMore() {
    Tensor t = Ops.ones(new long[] {1 << 18});
    long with = Argand.liveBytes();
    t.close();
    assertTrue(Argand.liveBytes() <= with - (1 << 20));
  }
}
