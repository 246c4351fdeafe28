/* A gated recurrent unit over documents side by side, token by token.

   Weights are read where NumPy keeps them, as (out, in); for several documents at once
   they are laid out anew, in panels.

   Shapes: N tokens of all documents, B documents side by side, H hidden size. */

#ifndef REFREADER_GRU_H
#define REFREADER_GRU_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* The unit is compiled twice where the compiler can: for any processor, and for those
   that multiply eight numbers at once. */
#if defined(__GNUC__) && defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#define HAS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#endif

/* Documents that are read side by side: a weight that was fetched serves them all. */
#define SIDE_BY_SIDE 96

/* Tokens from which it pays to lay weights out in panels. */
#define PACK_FROM 64

#if defined(__GNUC__)
#define RESTRICT __restrict__
#define PART static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")
#define LANES 8
typedef float Lanes __attribute__((vector_size(32), aligned(4), may_alias));
#define NO_LANES {0}
#else
#if defined(_MSC_VER)
#define RESTRICT __restrict
#else
#define RESTRICT
#endif
#define PART static inline
#define UNROLL
#define LANES 1
typedef float Lanes;
#define NO_LANES 0
#endif

/* What one product works on: its sums stay in the processor's registers. */
#define ROWS 6
#define PANEL 16

typedef struct {
  const float *weight; /* (out, in) */
  const float *bias;   /* (out,), or NULL */
  float *panels;       /* the same as (out / PANEL, in, PANEL), or NULL */
} Layer;

/* All documents' tokens, one document after the other. */
typedef struct {
  ptrdiff_t n;
  const float *projected; /* the input's part of the products: rows of 3H, in torch's
    order (reset, update, candidate), the sigmoids' negated */
  const ptrdiff_t *which; /* each token's row (N,) */
} Tokens;

/* Beyond this, gates are open or closed for good, and exp must not overflow. */
PART float bounded(float x) { return x < -80.0f ? -80.0f : x > 80.0f ? 80.0f : x; }

PART float sigmoid(float x) { return 1.0f / (1.0f + expf(-bounded(x))); }

PART float tanh_bounded(float x) {
  return 1.0f - 2.0f / (1.0f + expf(bounded(2.0f * x)));
}

PART void copy(float *RESTRICT to, const float *RESTRICT from, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) to[i] = from[i];
}

/* Sums of products of n_rows <= 8 rows with a vector, all n numbers long: eight at a
   time, as one addition needs not wait for another's end. */
PART void eight(const float *RESTRICT rows, int n_rows, const float *RESTRICT vector,
                ptrdiff_t n, float *sums) {
  float sum[8] = {0};
  for (ptrdiff_t i = 0; i < n; i++)
    for (int r = 0; r < n_rows; r++) sum[r] += rows[r * n + i] * vector[i];
  for (int r = 0; r < n_rows; r++) sums[r] = sum[r];
}

/* y = x W' for one document. */
PART void product(Layer layer, ptrdiff_t n_out, ptrdiff_t n_in, const float *RESTRICT x,
                  float *RESTRICT y) {
  ptrdiff_t o = 0;
  for (; o + 8 <= n_out; o += 8) eight(layer.weight + o * n_in, 8, x, n_in, y + o);
  for (; o < n_out; o++) eight(layer.weight + o * n_in, 1, x, n_in, y + o);
}

/* y = x W' for n_rows <= ROWS documents and a panel's n_out <= PANEL outputs: all sums
   stay in registers. */
PART void block(const float *RESTRICT panel, int n_rows, ptrdiff_t n_in,
                const float *RESTRICT x, ptrdiff_t n_out, float *RESTRICT y,
                ptrdiff_t stride) {
  Lanes sums[ROWS][PANEL / LANES] = {{NO_LANES}};
  for (ptrdiff_t i = 0; i < n_in; i++) {
    const Lanes *weights = (const Lanes *)(panel + i * PANEL);
    UNROLL for (int r = 0; r < n_rows; r++) {
      const float one = x[r * n_in + i];
      UNROLL for (int p = 0; p < PANEL / LANES; p++) sums[r][p] += one * weights[p];
    }
  }
  UNROLL for (int r = 0; r < n_rows; r++) {
    float all[PANEL];
    UNROLL for (int p = 0; p < PANEL / LANES; p++) ((Lanes *)all)[p] = sums[r][p];
    for (ptrdiff_t o = 0; o < n_out; o++) y[r * stride + o] = all[o];
  }
}

/* y = x W' + b for B documents. */
PART void products(Layer layer, ptrdiff_t n_out, ptrdiff_t n_in, ptrdiff_t n_docs,
                   const float *RESTRICT x, float *RESTRICT y) {
  const ptrdiff_t alone = layer.panels ? n_docs % ROWS == 1 : n_docs;
  const ptrdiff_t together = n_docs - alone;
  for (ptrdiff_t o = 0; o < n_out && together; o += PANEL) {
    const float *panel = layer.panels + o * n_in;
    const ptrdiff_t width = n_out - o < PANEL ? n_out - o : PANEL;
    for (ptrdiff_t doc = 0; doc < together; doc += ROWS) {
      const float *rows = x + doc * n_in;
      float *out = y + doc * n_out + o;
      switch (together - doc) {
        case 2: block(panel, 2, n_in, rows, width, out, n_out); break;
        case 3: block(panel, 3, n_in, rows, width, out, n_out); break;
        case 4: block(panel, 4, n_in, rows, width, out, n_out); break;
        case 5: block(panel, 5, n_in, rows, width, out, n_out); break;
        default: block(panel, ROWS, n_in, rows, width, out, n_out);
      }
    }
  }
  for (ptrdiff_t doc = together; doc < n_docs; doc++)
    product(layer, n_out, n_in, x + doc * n_in, y + doc * n_out);
  for (ptrdiff_t doc = 0; doc < n_docs && layer.bias; doc++)
    for (ptrdiff_t o = 0; o < n_out; o++) y[doc * n_out + o] += layer.bias[o];
}

/* Where a weight (n_out, n_in) goes as panels, and how many numbers it has there. */
PART ptrdiff_t pack(Layer *layer, ptrdiff_t n_out, ptrdiff_t n_in, float *panels) {
  const ptrdiff_t n_panels = (n_out + PANEL - 1) / PANEL;
  if (panels) {
    layer->panels = panels;
    for (ptrdiff_t o = 0; o < n_panels * PANEL; o++)
      for (ptrdiff_t i = 0; i < n_in; i++)
        panels[(o / PANEL * n_in + i) * PANEL + o % PANEL] =
            o < n_out ? layer->weight[o * n_in + i] : 0.0f;
  }
  return n_panels * PANEL * n_in;
}

/* The recurrent unit alone, for documents side by side, the longest first.

   projected: Rows of 3H, the sigmoids' negated.
   hidden: (B, H), written over. out: All documents' hidden states (N, H). */
PART void recur_steps(const Layer *recurrent, ptrdiff_t H, float *RESTRICT hidden,
                      float *RESTRICT room, ptrdiff_t n_docs, const Tokens *tokens,
                      const ptrdiff_t *starts, float *RESTRICT out) {
  for (ptrdiff_t t = 0; t < starts[1] - starts[0]; t++) {
    while (starts[n_docs] - starts[n_docs - 1] <= t) n_docs--;
    products(*recurrent, 3 * H, H, n_docs, hidden, room);
    for (ptrdiff_t b = 0; b < n_docs; b++) {
      const ptrdiff_t token = starts[b] + t;
      const float *RESTRICT input = tokens->projected + tokens->which[token] * 3 * H;
      const float *RESTRICT old = room + b * 3 * H;
      float *RESTRICT now = hidden + b * H;
      for (ptrdiff_t i = 0; i < H; i++) {
        const float reset = sigmoid(old[i] - input[i]);
        const float keep = sigmoid(old[H + i] - input[H + i]);
        const float candidate = tanh_bounded(input[2 * H + i] + reset * old[2 * H + i]);
        now[i] = candidate + keep * (now[i] - candidate);
      }
      copy(out + token * H, now, H);
    }
  }
}

static void recur_anywhere(const Layer *recurrent, ptrdiff_t H, float *hidden,
                           float *room, ptrdiff_t n_docs, const Tokens *tokens,
                           const ptrdiff_t *starts, float *out) {
  recur_steps(recurrent, H, hidden, room, n_docs, tokens, starts, out);
}

#ifdef WIDE
WIDE static void recur_wide(const Layer *recurrent, ptrdiff_t H, float *hidden,
                            float *room, ptrdiff_t n_docs, const Tokens *tokens,
                            const ptrdiff_t *starts, float *out) {
  recur_steps(recurrent, H, hidden, room, n_docs, tokens, starts, out);
}
#endif

/* The recurrent unit over all documents, the longest first, some at a time.

   RETURNS 0, or -1 where there is no memory to work with. */
static inline int recur_tokens(Layer recurrent, ptrdiff_t H, float *hidden,
                               ptrdiff_t n_docs, Tokens tokens,
                               const ptrdiff_t *starts, float *out) {
  const ptrdiff_t B = n_docs < SIDE_BY_SIDE ? n_docs : SIDE_BY_SIDE;
  const int packs = n_docs > 1 && tokens.n >= PACK_FROM;
  const ptrdiff_t n_panels = packs ? pack(&recurrent, 3 * H, H, NULL) : 0;
  float *numbers = (float *)malloc((size_t)(n_panels + B * 3 * H) * sizeof(float));
  if (!numbers) return -1;
  if (packs) pack(&recurrent, 3 * H, H, numbers);
  for (ptrdiff_t first = 0; first < n_docs; first += B) {
    const ptrdiff_t some = n_docs - first < B ? n_docs - first : B;
    float *room = numbers + n_panels;
#ifdef WIDE
    if (HAS_WIDE)
      recur_wide(&recurrent, H, hidden, room, some, &tokens, starts + first, out);
    else
#endif
      recur_anywhere(&recurrent, H, hidden, room, some, &tokens, starts + first, out);
    hidden += some * H;
  }
  free(numbers);
  return 0;
}

#endif
