/* SMO of libsvm for an RBF kernel that is 0 far from the diagonal.

   Working sets, stopping rule and precision are those of libsvm 3 without shrinking: the pair of second order (Fan,
   Chen and Lin 2005), a violation below `tolerance`, the kernel in float, the gradient in double. Row i of the kernel
   is kept for columns first[i] to last[i] - 1 alone. A block of rows remembers its extreme gradients, so a step costs
   the widths of two rows and the number of blocks, where libsvm visits all rows. */
#include <math.h>
#include <stdlib.h>

enum { BLOCK = 64 };

typedef struct {
    long n, n_blocks;
    const long *first, *last, *start;
    const float *kernel;
    double *dual, *gradient, *largest, *smallest;
    double *low, *high;
} Problem;

static long least(long a, long b) { return a < b ? a : b; }

static float value(const Problem *p, long i, long j) {
    return j >= p->first[i] && j < p->last[i] ? p->kernel[p->start[i] + j - p->first[i]] : 0;
}

/* Largest gradient that may rise and smallest that may fall in some blocks. */
static void renew(Problem *p, long begin, long end) {
    for (long k = begin; k < end; k++) {
        double largest = -HUGE_VAL, smallest = HUGE_VAL;
        for (long t = k * BLOCK; t < least(p->n, (k + 1) * BLOCK); t++) {
            double g = p->gradient[t];
            if (p->dual[t] < p->high[t] && g > largest) largest = g;
            if (p->dual[t] > p->low[t] && g < smallest) smallest = g;
        }
        p->largest[k] = largest;
        p->smallest[k] = smallest;
    }
}

static long most_violating(const Problem *p) {
    long best = 0;
    for (long k = 1; k < p->n_blocks; k++)
        if (p->largest[k] >= p->largest[best]) best = k;
    for (long t = least(p->n, (best + 1) * BLOCK) - 1; t >= best * BLOCK; t--)
        if (p->dual[t] < p->high[t] && p->gradient[t] == p->largest[best]) return t;
    return -1;
}

static double curvature(double kernel) { return kernel < 1 ? 2 - 2 * kernel : 1e-12; }

/* The row whose pair with i promises the largest decrease; -1 if no pair violates the condition. */
static long partner(const Problem *p, long i) {
    double top = p->gradient[i], best = 0, far = HUGE_VAL;
    long from = p->first[i] / BLOCK, to = (p->last[i] - 1) / BLOCK, found = -1, far_block = -1;
    for (long k = 0; k < p->n_blocks; k++) {
        if (p->smallest[k] >= top) continue;
        if (k < from || k > to) { /* the kernel is 0: the smallest gradient is the best */
            if (p->smallest[k] < far) far = p->smallest[far_block = k];
            continue;
        }
        for (long t = k * BLOCK; t < least(p->n, (k + 1) * BLOCK); t++) {
            double difference = top - p->gradient[t];
            if (difference <= 0 || p->dual[t] <= p->low[t]) continue;
            double decrease = difference * difference / curvature(value(p, i, t));
            if (decrease > best) best = decrease, found = t;
        }
    }
    if (far_block >= 0 && (top - far) * (top - far) / 2 > best)
        for (long t = far_block * BLOCK; t < least(p->n, (far_block + 1) * BLOCK); t++)
            if (p->dual[t] > p->low[t] && p->gradient[t] == far) return t;
    return found;
}

static void add_row(Problem *p, long i, double factor) {
    const float *row = p->kernel + p->start[i] - p->first[i];
    for (long t = p->first[i]; t < p->last[i]; t++) p->gradient[t] += factor * row[t];
}

static void step(Problem *p, long i, long j) {
    double length = (p->gradient[i] - p->gradient[j]) / curvature(value(p, i, j));
    double up = p->high[i] - p->dual[i], down = p->dual[j] - p->low[j];
    length = fmin(length, fmin(up, down));
    p->dual[i] = length == up ? p->high[i] : p->dual[i] + length;
    p->dual[j] = length == down ? p->low[j] : p->dual[j] - length;
    add_row(p, i, -length);
    add_row(p, j, length);
    renew(p, p->first[i] / BLOCK, (p->last[i] - 1) / BLOCK + 1);
    renew(p, p->first[j] / BLOCK, (p->last[j] - 1) / BLOCK + 1);
}

/* Signed dual coefficients, into `dual`, and labels less decisions without intercept, into `gradient`, for labels of
   -1 and 1; returns the number of steps, or -1 without memory. */
long solve(long n, const long *first, const long *last, const long *start, const float *kernel, const double *labels,
           double C, double tolerance, double *dual, double *gradient) {
    long n_blocks = (n + BLOCK - 1) / BLOCK, steps = 0;
    double *memory = malloc((2 * n + 2 * n_blocks) * sizeof(double));
    if (!memory) return -1;
    Problem p = {n, n_blocks, first, last, start, kernel, dual, gradient,
                 memory + 2 * n, memory + 2 * n + n_blocks, memory, memory + n};
    for (long t = 0; t < n; t++) {
        dual[t] = 0;
        gradient[t] = labels[t];
        p.low[t] = labels[t] > 0 ? 0 : -C;
        p.high[t] = labels[t] > 0 ? C : 0;
    }
    renew(&p, 0, n_blocks);
    for (;; steps++) {
        double smallest = HUGE_VAL;
        for (long k = 0; k < n_blocks; k++) smallest = fmin(smallest, p.smallest[k]);
        long i = most_violating(&p);
        if (i < 0 || gradient[i] - smallest < tolerance) break;
        long j = partner(&p, i);
        if (j < 0) break;
        step(&p, i, j);
    }
    free(memory);
    return steps;
}
