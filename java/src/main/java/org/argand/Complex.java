package org.argand;

/** A complex number, for operators that take numbers. */
public final class Complex extends Number {
  private static final long serialVersionUID = 1;
  private final double real;
  private final double imaginary;

  public Complex(double real, double imaginary) {
    this.real = real;
    this.imaginary = imaginary;
  }

  public double real() {
    return real;
  }

  public double imaginary() {
    return imaginary;
  }

  @Override
  public int intValue() {
    return (int) real;
  }

  @Override
  public long longValue() {
    return (long) real;
  }

  @Override
  public float floatValue() {
    return (float) real;
  }

  @Override
  public double doubleValue() {
    return real;
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof Complex && ((Complex) o).real == real && ((Complex) o).imaginary == imaginary;
  }

  @Override
  public int hashCode() {
    return 31 * Double.hashCode(real) + Double.hashCode(imaginary);
  }

  @Override
  public String toString() {
    return real + (imaginary < 0 ? " - " : " + ") + Math.abs(imaginary) + "i";
  }
}
