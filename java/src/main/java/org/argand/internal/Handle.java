package org.argand.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * A native object that a Java object owns. It is freed by {@link #close}, or after the Java object has become
 * unreachable, but never while a native call uses it: a call acquires it before and releases it afterwards, and the last
 * one frees it.
 *
 * <p>Java's collector does not see native memory. So the bytes of all handles are counted, and when they have doubled
 * since the last collection (and grown by 64 MB at least), the collector is asked to run.
 */
public final class Handle extends PhantomReference<Object> {
  private static final int CLOSED = 1 << 30; // added to the number of users
  private static final long OVERHEAD = 512; // bytes of a native object besides its elements
  private static final long LEAST_GROWTH = 64L << 20;
  private static final int LISTS = 16;
  private static final long COUNTED_LATER = 64 << 10; // bytes of a list that BYTES need not know yet

  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
  private static final Handle[] LIVE = new Handle[LISTS]; // heads of lists that keep the references alive
  private static final AtomicLong BYTES = new AtomicLong();
  private static final AtomicLong LIMIT = new AtomicLong(LEAST_GROWTH);
  private static final AtomicInteger COLLECTING = new AtomicInteger();

  private static final VarHandle USERS;

  static {
    try {
      USERS = MethodHandles.lookup().findVarHandle(Handle.class, "users", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    for (int i = 0; i < LISTS; ++i) LIVE[i] = new Handle(null, 0, 0, null, i);
    Thread thread = new Thread(Handle::freeUnreachable, "argand-cleaner");
    thread.setDaemon(true);
    thread.start();
  }

  private final long address;
  private final long bytes;
  private final LongConsumer free;
  private final int list;
  private volatile int users;
  private Handle previous = this;
  private Handle next = this;
  private long uncounted; // of a head: bytes of its list that BYTES lacks

  private Handle(Object owner, long address, long bytes, LongConsumer free, int list) {
    super(owner, QUEUE);
    this.address = address;
    this.bytes = bytes;
    this.free = free;
    this.list = list;
  }

  /** The native object at {@code address}, with this many bytes, belongs to {@code owner}. */
  public static Handle of(Object owner, long address, long bytes, LongConsumer free) {
    int list = (int) ((address >> 5) & (LISTS - 1));
    Handle handle = new Handle(owner, address, bytes + OVERHEAD, free, list);
    Handle head = LIVE[list];
    boolean isMore;
    synchronized (head) {
      handle.next = head.next;
      handle.previous = head;
      head.next.previous = handle;
      head.next = handle;
      isMore = head.count(handle.bytes);
    }
    if (isMore && BYTES.get() > LIMIT.get()) collect();
    return handle;
  }

  // Most calls change the list alone, whose lock they have anyway.
  private boolean count(long more) {
    uncounted += more;
    if (Math.abs(uncounted) < COUNTED_LATER) return false;
    BYTES.addAndGet(uncounted);
    uncounted = 0;
    return true;
  }

  /** Bytes of the native objects that Java owns. */
  public static long liveBytes() {
    long bytes = BYTES.get();
    for (Handle head : LIVE)
      synchronized (head) {
        bytes += head.uncounted;
      }
    return bytes;
  }

  /** The address, which stays valid until {@link #release}. */
  public long acquire() {
    for (int n = users; (n & CLOSED) == 0; n = users) if (USERS.compareAndSet(this, n, n + 1)) return address;
    throw new IllegalStateException("it is closed");
  }

  /** What the function gives for the address, which stays valid during the call. */
  public <T> T use(LongFunction<T> function) {
    long valid = acquire();
    try {
      return function.apply(valid);
    } finally {
      release();
    }
  }

  /** The same without a result. */
  public void run(LongConsumer action) {
    long valid = acquire();
    try {
      action.accept(valid);
    } finally {
      release();
    }
  }

  public void release() {
    if ((int) USERS.getAndAdd(this, -1) == CLOSED + 1) free();
  }

  public boolean isClosed() {
    return (users & CLOSED) != 0;
  }

  public void close() {
    for (int n = users; (n & CLOSED) == 0; n = users) {
      if (!USERS.compareAndSet(this, n, n | CLOSED)) continue;
      if (n == 0) free();
      return;
    }
  }

  private void free() {
    Handle head = LIVE[list];
    synchronized (head) {
      previous.next = next;
      next.previous = previous;
      previous = next = this;
      head.count(-bytes);
    }
    // Nothing but its owner refers to it any more, so the collector forgets both; clear() would be a call of the JVM.
    free.accept(address);
  }

  private static void freeUnreachable() {
    while (true) {
      try {
        ((Handle) QUEUE.remove()).close();
      } catch (InterruptedException e) {
        // Nobody has a reason to stop it; it ends with the JVM.
      }
    }
  }

  // Runs in the thread that made too many objects, so that this thread waits for the memory.
  private static void collect() {
    if (!COLLECTING.compareAndSet(0, 1)) return;
    try {
      System.gc();
      for (int wait = 0; wait < 50; ++wait) { // references arrive in the queue a little after the collection
        Object unreachable = QUEUE.poll();
        if (unreachable == null && wait > 4 && BYTES.get() <= LIMIT.get() / 2) break;
        if (unreachable == null) Thread.sleep(1);
        else wait = 0;
        for (; unreachable != null; unreachable = QUEUE.poll()) ((Handle) unreachable).close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      LIMIT.set(Math.max(2 * BYTES.get(), BYTES.get() + LEAST_GROWTH));
      COLLECTING.set(0);
    }
  }
}
