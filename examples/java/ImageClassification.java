import java.awt.image.BufferedImage;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import javax.imageio.ImageIO;
import org.argand.Ops;
import org.pytorch.IValue;
import org.pytorch.Module;
import org.pytorch.Tensor;

/**
 * Classifies an image by a network of torchvision, as PyTorch's tutorials for Java do. In Python, once:
 *
 * <pre>{@code
 * model = torchvision.models.resnet18(weights="DEFAULT").eval()
 * torch.jit.script(model).save("resnet18.pt")
 * }</pre>
 *
 * Then: {@code java -cp argand.jar ImageClassification.java resnet18.pt photo.jpg [names of the classes, one a line]}
 */
public final class ImageClassification {
  private static final double[] MEAN = {0.485, 0.456, 0.406};
  private static final double[] STD = {0.229, 0.224, 0.225};
  private static final long RESIZED = 256; // the shorter side
  private static final long CROP = 224;

  /** The image as torchvision prepares it: [1, 3, 224, 224]. */
  private static Tensor prepared(BufferedImage image) {
    int width = image.getWidth();
    int height = image.getHeight();
    byte[] pixels = new byte[3 * width * height];
    int[] rgb = image.getRGB(0, 0, width, height, null, 0, width);
    for (int i = 0; i < rgb.length; ++i)
      for (int c = 0; c < 3; ++c) pixels[c * rgb.length + i] = (byte) (rgb[i] >> (16 - 8 * c));
    org.argand.Tensor x =
        org.argand.Tensor.ofUnsigned(pixels, 1, 3, height, width).to(org.argand.DType.FLOAT32).div(255);
    long[] size = {
        height <= width ? RESIZED : RESIZED * height / width, width <= height ? RESIZED : RESIZED * width / height};
    x = (org.argand.Tensor) Ops.call("_upsample_bilinear2d_aa", x, size, false, null, null)[0];
    x = x.narrow(2, (long) Math.rint((size[0] - CROP) / 2.0), CROP)
            .narrow(3, (long) Math.rint((size[1] - CROP) / 2.0), CROP);
    org.argand.Tensor mean = org.argand.Tensor.of(MEAN, 3, 1, 1);
    org.argand.Tensor std = org.argand.Tensor.of(STD, 3, 1, 1);
    return Tensor.fromArgand(x.sub(mean).div(std).to(org.argand.DType.FLOAT32));
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length < 2) throw new IllegalArgumentException("expected: MODEL IMAGE [CLASSES]");
    BufferedImage image = ImageIO.read(new File(arguments[1]));
    if (image == null) throw new IllegalArgumentException("not an image: " + arguments[1]);
    List<String> names = arguments.length > 2 ? Files.readAllLines(Path.of(arguments[2])) : List.of();

    Module module = Module.load(arguments[0]);
    float[] scores = module.forward(IValue.from(prepared(image))).toTensor().getDataAsFloatArray();
    module.destroy();

    Integer[] best = new Integer[scores.length];
    Arrays.setAll(best, i -> i);
    Arrays.sort(best, Comparator.comparing(i -> - scores[i]));
    for (int i = 0; i < Math.min(5, best.length); ++i)
      System.out.printf(
          "%8.4f  %s%n", scores[best[i]], best[i] < names.size() ? names.get(best[i]) : "class " + best[i]);
  }
}
