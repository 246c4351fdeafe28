/* The default reader's two loops, compiled: the recurrent unit goes token by token, the
   entity memory mention by mention.

   The definitions are `recurrence.recur_reference` and `memory.read_mentions`; a test
   compares them. What columns mean and which features there are comes from Python, in
   a `Layout`: nothing is defined twice.

   Shapes: B texts, N tokens of all, H hidden size; K mentions, M cells, V mention size,
   S score size, D product size, F features, W words of a mention. */

#ifndef REFREADER_ENTITY_H
#define REFREADER_ENTITY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Both loops are compiled twice where the compiler can: for any processor, and for those
   that multiply eight numbers at once; the recurrent unit for those too that multiply
   sixteen. REFREADER_PLAIN leaves all extensions out. */
#if defined(__GNUC__) && !defined(REFREADER_PLAIN)
#define PART static inline __attribute__((always_inline))
#define RESTRICT __restrict__
#define UNROLL _Pragma("GCC unroll 8")
#define LANES 8
typedef float Lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t IntLanes __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#define HAS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define WIDEST __attribute__((target("avx512f,fma")))
#define HAS_WIDEST __builtin_cpu_supports("avx512f")
typedef float MoreLanes __attribute__((vector_size(64), aligned(4), may_alias));
#endif
#else
#if defined(_MSC_VER)
#define PART static __forceinline
#define RESTRICT __restrict
#else
#define PART static inline
#define RESTRICT
#endif
#define UNROLL
#define LANES 1
typedef float Lanes;
#endif

/* What one product works on: its sums stay in the processor's registers. */
#define ROWS 6
#define PANEL 16
#define PER_PANEL (PANEL / LANES)

/* Texts that are read side by side: a weight that was fetched serves them all. */
#define SIDE_BY_SIDE 96

/* Tokens from which it pays to lay weights out for that. */
#define PACK_FROM 64

/* ---- Numbers ---- */

PART ptrdiff_t round_up(ptrdiff_t n, ptrdiff_t step) {
  return (n + step - 1) / step * step;
}

/* Beyond this, gates are open or closed for good. */
PART float bounded(float x) { return x > -80.0f ? (x < 80.0f ? x : 80.0f) : -80.0f; }

/* e to the power of x, which is bounded: 2^n e^r, by a polynomial where |r| < 0.35. */
PART float exponential(float x) {
  const int32_t n = (int32_t)(x * 1.44269504f + 128.5f) - 128;
  const float whole = (float)n;
  const float r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
  const int32_t bits = (n + 127) << 23;
  float sum = 1.9875691500e-4f, power;
  sum = sum * r + 1.3981999507e-3f;
  sum = sum * r + 8.3334519073e-3f;
  sum = sum * r + 4.1665795894e-2f;
  sum = sum * r + 1.6666665459e-1f;
  sum = sum * r + 5.0000001201e-1f;
  memcpy(&power, &bits, sizeof(power));
  return (sum * r * r + r + 1.0f) * power;
}

PART float sigmoid(float x) { return 1.0f / (1.0f + exponential(bounded(-x))); }

PART float tanh_bounded(float x) {
  return 1.0f - 2.0f / (1.0f + exponential(bounded(2.0f * x)));
}

/* ---- Products ---- */

PART float lanes_sum(Lanes x) {
#if LANES == 1
  return x;
#else
  return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
#endif
}

/* Products of n_rows <= 8 rows with a vector, all n numbers long. */
PART void dot_rows(const float *RESTRICT rows, int n_rows, const float *RESTRICT vector,
                   ptrdiff_t n, float *RESTRICT out) {
  const Lanes zero = {0};
  Lanes sums[8];
  ptrdiff_t i = 0;
  UNROLL for (int r = 0; r < n_rows; r++) sums[r] = zero;
  for (; i + LANES <= n; i += LANES) {
    const Lanes some = *(const Lanes *)(vector + i);
    UNROLL for (int r = 0; r < n_rows; r++)
      sums[r] += *(const Lanes *)(rows + r * n + i) * some;
  }
  UNROLL for (int r = 0; r < n_rows; r++) out[r] = lanes_sum(sums[r]);
  for (; i < n; i++)
    for (int r = 0; r < n_rows; r++) out[r] += rows[r * n + i] * vector[i];
}

/* y = W x for one vector; W is (n_out, n_in). */
PART void multiply_vector(const float *weight, ptrdiff_t n_out, ptrdiff_t n_in,
                          const float *x, float *y) {
  ptrdiff_t o = 0;
  for (; o + 8 <= n_out; o += 8) dot_rows(weight + o * n_in, 8, x, n_in, y + o);
  for (; o < n_out; o++) dot_rows(weight + o * n_in, 1, x, n_in, y + o);
}

/* Add the products of n_rows <= ROWS vectors with a panel's PANEL outputs to sums. */
PART void multiply_panel(const float *RESTRICT panel, int n_rows, ptrdiff_t n_in,
                         const float *const *rows, Lanes sums[ROWS][PER_PANEL]) {
  for (ptrdiff_t i = 0; i < n_in; i++) {
    const Lanes *weights = (const Lanes *)(panel + i * PANEL);
    UNROLL for (int r = 0; r < n_rows; r++) {
      const float one = rows[r][i];
      UNROLL for (int p = 0; p < PER_PANEL; p++) sums[r][p] += one * weights[p];
    }
  }
}

/* A weight (n_out, n_in) as panels (n_out / PANEL, n_in, PANEL), zeros at the end. */
static void pack(const float *weight, ptrdiff_t n_out, ptrdiff_t n_in, float *panels) {
  for (ptrdiff_t o = 0; o < round_up(n_out, PANEL); o++)
    for (ptrdiff_t i = 0; i < n_in; i++)
      panels[(o / PANEL * n_in + i) * PANEL + o % PANEL] =
          o < n_out ? weight[o * n_in + i] : 0.0f;
}

/* ---- The recurrent unit ---- */

typedef struct {
  ptrdiff_t size;         /* H */
  const float *weight;    /* (3H, H), as torch orders them: reset, keep, candidate */
  const float *bias;      /* (3H,) */
  const float *panels;    /* the weights of each gate as panels, or NULL */
  const float *projected; /* the inputs' part (N, 3H) */
  float *history;         /* the hidden states (N, H) */
} Recurrence;

/* Some of a token's hidden state: n units from the given one on.

   products: The weights' with the previous state; the next gate's are a stride on. */
PART void recur_units(const Recurrence *unit, ptrdiff_t token, ptrdiff_t first, ptrdiff_t n,
                      const float *RESTRICT products, ptrdiff_t stride,
                      const float *RESTRICT previous) {
  const ptrdiff_t H = unit->size;
  const float *RESTRICT x = unit->projected + token * 3 * H + first;
  const float *RESTRICT bias = unit->bias + first;
  float *RESTRICT out = unit->history + token * H + first;
  previous += first;
  for (ptrdiff_t i = 0; i < n; i++) {
    const float reset = sigmoid(x[i] + products[i] + bias[i]);
    const float keep = sigmoid(x[H + i] + products[stride + i] + bias[H + i]);
    const float candidate = tanh_bounded(
        x[2 * H + i] + reset * (products[2 * stride + i] + bias[2 * H + i]));
    out[i] = candidate + keep * (previous[i] - candidate);
  }
}

PART void panel_products(const float *panel, int n_rows, ptrdiff_t n_in,
                         const float *const *rows, float *out, ptrdiff_t stride) {
  const Lanes zero = {0};
  Lanes sums[ROWS][PER_PANEL];
  UNROLL for (int r = 0; r < n_rows; r++)
    UNROLL for (int p = 0; p < PER_PANEL; p++) sums[r][p] = zero;
  multiply_panel(panel, n_rows, n_in, rows, sums);
  UNROLL for (int r = 0; r < n_rows; r++)
    UNROLL for (int p = 0; p < PER_PANEL; p++)
      ((Lanes *)(out + r * stride))[p] = sums[r][p];
}

#ifdef WIDEST
/* The same for the panels of all three gates, which are a stride apart: a panel is a
   single vector, and too few sums would wait for one another. */
PART void gate_products(const float *panel, ptrdiff_t per_gate, int n_rows, ptrdiff_t n_in,
                        const float *const *rows, float *out, ptrdiff_t stride) {
  const MoreLanes zero = {0};
  MoreLanes sums[ROWS][3];
  UNROLL for (int r = 0; r < n_rows; r++)
    UNROLL for (int gate = 0; gate < 3; gate++) sums[r][gate] = zero;
  for (ptrdiff_t i = 0; i < n_in; i++) {
    MoreLanes weights[3];
    UNROLL for (int gate = 0; gate < 3; gate++)
      weights[gate] = *(const MoreLanes *)(panel + gate * per_gate + i * PANEL);
    UNROLL for (int r = 0; r < n_rows; r++) {
      const float one = rows[r][i];
      UNROLL for (int gate = 0; gate < 3; gate++) sums[r][gate] += one * weights[gate];
    }
  }
  UNROLL for (int r = 0; r < n_rows; r++)
    UNROLL for (int gate = 0; gate < 3; gate++)
      ((MoreLanes *)(out + r * stride))[gate] = sums[r][gate];
}
#endif

/* Products of n_rows <= ROWS hidden states with the panels of one gate, or of all. */
PART void some_products(const float *panel, ptrdiff_t per_gate, int n_gates, int n_rows,
                        ptrdiff_t n_in, const float *const *rows, float *out,
                        ptrdiff_t stride) {
#ifdef WIDEST
  if (n_gates == 3) {
    gate_products(panel, per_gate, n_rows, n_in, rows, out, stride);
    return;
  }
#endif
  panel_products(panel, n_rows, n_in, rows, out, stride);
}

/* The next token of texts side by side.

   n_gates: How many are multiplied together, 1 or 3.
   previous: The hidden state of each before it. tokens: Which it is, of each.
   room: For 3 PANEL products of each text, or 3H of a single one. */
PART void recur_token(const Recurrence *unit, int n_gates, ptrdiff_t n_texts,
                      const float *const *previous, const ptrdiff_t *tokens,
                      float *RESTRICT room) {
  const ptrdiff_t H = unit->size, per_gate = round_up(H, PANEL) * H, all = 3 * PANEL;
  if (n_texts == 1 || !unit->panels) {
    for (ptrdiff_t b = 0; b < n_texts; b++) {
      multiply_vector(unit->weight, 3 * H, H, previous[b], room);
      recur_units(unit, tokens[b], 0, H, room, H, previous[b]);
    }
    return;
  }
  for (ptrdiff_t first = 0; first < H; first += PANEL) {
    for (ptrdiff_t gate = 0; gate < 3; gate += n_gates) {
      const float *panel = unit->panels + gate * per_gate + first * H;
      for (ptrdiff_t b = 0; b < n_texts; b += ROWS) {
        const float *const *rows = previous + b;
        float *out = room + b * all + gate * PANEL;
        switch (n_texts - b) {
          case 1: some_products(panel, per_gate, n_gates, 1, H, rows, out, all); break;
          case 2: some_products(panel, per_gate, n_gates, 2, H, rows, out, all); break;
          case 3: some_products(panel, per_gate, n_gates, 3, H, rows, out, all); break;
          case 4: some_products(panel, per_gate, n_gates, 4, H, rows, out, all); break;
          case 5: some_products(panel, per_gate, n_gates, 5, H, rows, out, all); break;
          default: some_products(panel, per_gate, n_gates, ROWS, H, rows, out, all);
        }
      }
    }
    for (ptrdiff_t b = 0; b < n_texts; b++) {
      const float *products = room + b * all;
      if (H - first >= PANEL)
        recur_units(unit, tokens[b], first, PANEL, products, PANEL, previous[b]);
      else
        recur_units(unit, tokens[b], first, H - first, products, PANEL, previous[b]);
    }
  }
}

/* Texts side by side, the longest first; what they begin with is in `previous`, and
   where they end will be. */
PART void recur_texts(const Recurrence *unit, int n_gates, ptrdiff_t n_texts,
                      const float **previous, ptrdiff_t *tokens,
                      const ptrdiff_t *lengths, float *room) {
  const ptrdiff_t H = unit->size, longest = lengths[0];
  for (ptrdiff_t t = 0; t < longest; t++) {
    while (lengths[n_texts - 1] <= t) n_texts--;
    recur_token(unit, n_gates, n_texts, previous, tokens, room);
    for (ptrdiff_t b = 0; b < n_texts; b++) previous[b] = unit->history + tokens[b]++ * H;
  }
}

typedef void Recur(const Recurrence *, ptrdiff_t, const float **, ptrdiff_t *,
                   const ptrdiff_t *, float *);

static void recur_anywhere(const Recurrence *unit, ptrdiff_t n_texts,
                           const float **previous, ptrdiff_t *tokens,
                           const ptrdiff_t *lengths, float *room) {
  recur_texts(unit, 1, n_texts, previous, tokens, lengths, room);
}

#ifdef WIDE
WIDE static void recur_wide(const Recurrence *unit, ptrdiff_t n_texts,
                            const float **previous, ptrdiff_t *tokens,
                            const ptrdiff_t *lengths, float *room) {
  recur_texts(unit, 1, n_texts, previous, tokens, lengths, room);
}

WIDEST static void recur_widest(const Recurrence *unit, ptrdiff_t n_texts,
                                const float **previous, ptrdiff_t *tokens,
                                const ptrdiff_t *lengths, float *room) {
  recur_texts(unit, 3, n_texts, previous, tokens, lengths, room);
}
#endif

/* What suits this processor best. */
static Recur *choose_recur(void) {
#ifdef WIDE
  if (HAS_WIDEST) return recur_widest;
  if (HAS_WIDE) return recur_wide;
#endif
  return recur_anywhere;
}

/* Read all tokens of texts, the longest first.

   hidden: (B, H), written over; texts: which row of it each is in.
   tokens: Each text's first; lengths: how many each has. `tokens` is used up.
   RETURNS 0, or -1 where there is no memory to work with. */
static int recur_all(Recurrence unit, ptrdiff_t n_texts, ptrdiff_t n_tokens,
                     float *hidden, const ptrdiff_t *texts, ptrdiff_t *tokens,
                     const ptrdiff_t *lengths) {
  const ptrdiff_t H = unit.size, B = n_texts < SIDE_BY_SIDE ? n_texts : SIDE_BY_SIDE;
  const int packs = n_texts > 1 && n_tokens >= PACK_FROM;
  const ptrdiff_t per_gate = round_up(H, PANEL) * H, n_panels = packs ? 3 * per_gate : 0;
  const ptrdiff_t n_room = packs && B * PANEL > H ? 3 * B * PANEL : 3 * H;
  float *numbers = (float *)malloc((size_t)(n_panels + n_room) * sizeof(float));
  const float **previous = (const float **)malloc((size_t)B * sizeof(float *));
  const int failed = numbers && previous ? 0 : -1;
  Recur *const recur = choose_recur();
  for (ptrdiff_t gate = 0; gate < 3 && packs && !failed; gate++)
    pack(unit.weight + gate * H * H, H, H, numbers + gate * per_gate);
  unit.panels = packs ? numbers : NULL;
  for (ptrdiff_t first = 0; first < n_texts && !failed; first += B) {
    const ptrdiff_t some = n_texts - first < B ? n_texts - first : B;
    float *room = numbers + n_panels;
    for (ptrdiff_t b = 0; b < some; b++) previous[b] = hidden + texts[first + b] * H;
    recur(&unit, some, previous, tokens + first, lengths + first, room);
    for (ptrdiff_t b = 0; b < some; b++)
      if (lengths[first + b])
        memcpy(hidden + texts[first + b] * H, previous[b], (size_t)H * sizeof(float));
  }
  free(numbers);
  free((void *)previous);
  return failed;
}

/* ---- The entity memory ---- */

/* How a mention and a cell are compared: features.Op, matched by name. */
enum {
  OP_DISTANCE, OP_BUCKET, OP_RANK, OP_VALUE, OP_PAIR, OP_SAME, OP_IN, OP_OVERLAP,
  OP_COVERAGE, OP_COVERS
};

/* There is room for so many. */
enum { MOST_FEATURES = 64 };

/* A row of memory.TABLE. */
typedef struct {
  int32_t op, size, mention, cell, inner, offset, n_bounds;
  const int32_t *bounds;
} Feature;

/* What the columns of mentions and cells mean: mentions.Field, cells.Extra, ... */
typedef struct {
  ptrdiff_t n_fields, n_cell_fields, n_words, n_set_words, n_features, n_values;
  ptrdiff_t n_kept, n_name_kinds;
  int32_t n_kinds;
  int32_t position, kind, stem, string, pronoun, sure, length; /* fields */
  int32_t count, latest, groups;                               /* extras */
  int32_t name_group, noun_group, pronoun_group;
  int32_t heads, strings, pronouns, names, words, latest_names, latest_words; /* sets */
  int32_t mention_names;
  int32_t bonus, most_bonuses;
  const int32_t *set_starts; /* and the last one's end */
  const int32_t *kept;
  const int32_t *name_kinds;
  const Feature *features;
} Layout;

typedef struct {
  ptrdiff_t mention_size, score_size, product_size; /* V, S, D */
  const float *latest, *mean;    /* (S + D, V) */
  const float *product;          /* (S, D) */
  const float *features;         /* (N_VALUES, S) */
  const float *kind_features;    /* (N_KINDS, N_VALUES) */
  const float *score;            /* (S,) */
  float score_bias;
} Weights;

typedef struct {
  ptrdiff_t n_cells;
  int32_t *fields, *sets; /* (M, .) */
  float *total;           /* (M, V) */
  float *scored;          /* (M, S) */
  float *compared;        /* (M, D) */
  int64_t *entities;      /* (M,) */
  int64_t n_entities, n_mentions;
} Memory;

typedef struct {
  ptrdiff_t n;
  const int32_t *fields, *names, *words; /* (K, .) */
  const float *vectors;                  /* (K, V) */
  const float *queries, *products;       /* (K, S), (K, D) */
  const float *new_scores;               /* (K,) */
} Mentions;

/* What is decided of each mention; links and standing are (K, M) or NULL. */
typedef struct {
  int32_t *cell;
  uint8_t *is_new;
  int64_t *entity, *antecedent;
  float *probability, *links;
  int64_t *standing;
} Decisions;

/* Room to work in. Of cells, what features look at is kept by column, `stride` cells
   long, so that all cells are compared at once. */
typedef struct {
  ptrdiff_t stride, padded; /* M and S, rounded up */
  ptrdiff_t n_used, n_seen; /* cells in use; cells up to the last of them, rounded up */
  int32_t *columns;         /* (fields and sets, M) */
  int32_t *values;          /* of features (F, M) */
  int32_t *found, *filled, *any; /* (M,) */
  int32_t *rank;            /* how many cells were mentioned later (M,) */
  int32_t *used;            /* (M,) */
  int32_t *varying;         /* features whose values differ between cells (F,) */
  ptrdiff_t n_varying;
  const float *features;    /* (N_VALUES, S) */
  const float *scored;      /* (M, S) */
  float *own_scored;        /* the same, where S is not a number of panels, or NULL */
  float *panels, *scaled;   /* of the product's weight, and times a mention's products */
  float *score, *base;      /* (S,) */
  float *scores;            /* of used cells (M,) */
  float *mean;              /* (V,) */
  float *seen, *seen_mean;  /* (S + D,) */
} Room;

/* -- Features -- */

PART void fill(int32_t *x, ptrdiff_t n, int32_t value) {
  for (ptrdiff_t c = 0; c < n; c++) x[c] = value;
}

PART int32_t difference(int32_t a, int32_t b) { /* wraps, as NumPy's does */
  return (int32_t)((uint32_t)a - (uint32_t)b);
}

/* Which bucket numbers are in: how many bounds are below each. */
PART void to_buckets(const Feature *feature, int32_t *RESTRICT x, ptrdiff_t n,
                     int32_t *RESTRICT out) {
  fill(out, n, 0);
  for (int32_t b = 0; b < feature->n_bounds; b++) {
    const int32_t bound = feature->bounds[b];
    for (ptrdiff_t c = 0; c < n; c++) out[c] += x[c] > bound;
  }
}

/* The columns of a cell's set of words. */
PART const int32_t *set_columns(const Layout *layout, const Room *room, int32_t set) {
  return room->columns + (layout->n_cell_fields + layout->set_starts[set]) * room->stride;
}

PART ptrdiff_t set_size(const Layout *layout, int32_t set) {
  return layout->set_starts[set + 1] - layout->set_starts[set];
}

/* Is a word in each cell's set? */
PART void find_word(const int32_t *RESTRICT set, ptrdiff_t size, ptrdiff_t stride,
                    ptrdiff_t n, int32_t word, int32_t *RESTRICT out) {
  fill(out, n, 0);
  for (ptrdiff_t w = 0; w < size; w++)
    for (ptrdiff_t c = 0; c < n; c++) out[c] |= set[w * stride + c] == word;
}

/* How much of the mention's set is in each cell's. */
PART void overlap(const int32_t *set, ptrdiff_t size, const Room *room,
                  const int32_t *mine, ptrdiff_t n_words, int32_t *RESTRICT out) {
  const ptrdiff_t n = room->n_seen;
  int32_t *RESTRICT found = room->found, *RESTRICT filled = room->filled;
  int32_t *RESTRICT any = room->any;
  int32_t n_mine = 0;
  fill(found, n, 0);
  fill(filled, n, 0);
  for (ptrdiff_t i = 0; i < n_words; i++) {
    if (!mine[i]) continue;
    n_mine++;
    find_word(set, size, room->stride, n, mine[i], any);
    for (ptrdiff_t c = 0; c < n; c++) found[c] += any[c];
  }
  if (!n_mine) {
    fill(out, n, 0);
    return;
  }
  for (ptrdiff_t w = 0; w < size; w++)
    for (ptrdiff_t c = 0; c < n; c++) filled[c] |= set[w * room->stride + c];
  for (ptrdiff_t c = 0; c < n; c++) {
    const int32_t share = found[c] == 0 ? 2 : found[c] == n_mine ? 4 : 3;
    out[c] = filled[c] == 0 ? 1 : share;
  }
}

/* How much of each cell's set is in the mention's. */
PART void coverage(const int32_t *set, ptrdiff_t size, const Room *room,
                   const int32_t *mine, ptrdiff_t n_words, int32_t *RESTRICT out) {
  const ptrdiff_t n = room->n_seen;
  int32_t *RESTRICT found = room->found, *RESTRICT filled = room->filled;
  int32_t *RESTRICT any = room->any;
  int32_t n_mine = 0;
  for (ptrdiff_t i = 0; i < n_words; i++) n_mine += mine[i] != 0;
  fill(found, n, 0);
  fill(filled, n, 0);
  for (ptrdiff_t w = 0; w < size; w++) {
    const int32_t *RESTRICT theirs = set + w * room->stride;
    fill(any, n, 0);
    for (ptrdiff_t i = 0; i < n_words; i++) {
      const int32_t word = mine[i];
      if (word)
        for (ptrdiff_t c = 0; c < n; c++) any[c] |= theirs[c] == word;
    }
    for (ptrdiff_t c = 0; c < n; c++) {
      found[c] += any[c];
      filled[c] += theirs[c] != 0;
    }
  }
  for (ptrdiff_t c = 0; c < n; c++) {
    const int32_t share = found[c] == 0 ? 2 : found[c] == filled[c] ? 4 : 3;
    out[c] = filled[c] == 0 ? 0 : n_mine ? share : 1;
  }
}

/* The values of one feature of a mention and all cells, always below its size. */
PART void feature_values(const Layout *layout, const Room *room, const Mentions *mentions,
                         ptrdiff_t i, const Feature *feature, int32_t *RESTRICT out) {
  const ptrdiff_t n = room->n_seen, W = layout->n_words;
  const int32_t *fields = mentions->fields + i * layout->n_fields;
  const int32_t *words = mentions->words + i * W;
  const int32_t op = feature->op, last = feature->size - 1;
  if (op == OP_IN || op == OP_OVERLAP || op == OP_COVERAGE) {
    const int32_t *set = set_columns(layout, room, feature->cell);
    const ptrdiff_t size = set_size(layout, feature->cell);
    if (op == OP_IN) {
      const int32_t mine = fields[feature->mention];
      find_word(set, size, room->stride, n, mine, out);
      for (ptrdiff_t c = 0; c < n; c++) out[c] = mine ? 1 + out[c] : 0;
    } else {
      if (feature->mention == layout->mention_names) words = mentions->names + i * W;
      if (op == OP_OVERLAP) overlap(set, size, room, words, W, out);
      else coverage(set, size, room, words, W, out);
    }
  } else if (op == OP_RANK) {
    to_buckets(feature, room->rank, n, out);
  } else {
    int32_t *RESTRICT theirs = room->columns + feature->cell * room->stride;
    const int32_t mine = fields[feature->mention];
    if (op == OP_DISTANCE) {
      for (ptrdiff_t c = 0; c < n; c++) room->found[c] = difference(mine, theirs[c]);
      to_buckets(feature, room->found, n, out);
    } else if (op == OP_BUCKET) {
      to_buckets(feature, theirs, n, out);
    } else if (op == OP_VALUE) {
      for (ptrdiff_t c = 0; c < n; c++) out[c] = theirs[c];
    } else if (op == OP_PAIR) {
      const uint32_t row = (uint32_t)mine * (uint32_t)feature->inner;
      for (ptrdiff_t c = 0; c < n; c++) out[c] = (int32_t)(row + (uint32_t)theirs[c]);
    } else if (op == OP_SAME) {
      for (ptrdiff_t c = 0; c < n; c++)
        out[c] = mine && theirs[c] ? 1 + (theirs[c] == mine) : 0;
    } else { /* OP_COVERS */
      const int32_t *RESTRICT heads = room->columns + layout->position * room->stride;
      const int32_t start = difference(fields[layout->position], fields[layout->length]);
      for (ptrdiff_t c = 0; c < n; c++) out[c] = heads[c] >= start;
    }
  }
  for (ptrdiff_t c = 0; c < n; c++) {
    const int32_t value = out[c] < last ? out[c] : last;
    out[c] = value > 0 ? value : 0;
  }
}

/* -- Scores -- */

PART void add(float *RESTRICT to, const float *RESTRICT from, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) to[i] += from[i];
}

/* All features of a mention and the cells in use. What is the same for all of these is
   added to the base of their scores.

   RETURNS what such features add directly. */
PART float all_features(const Layout *layout, Room *room, const Mentions *mentions,
                        ptrdiff_t i, const float *direct) {
  float sum = 0.0f;
  room->n_varying = 0;
  for (ptrdiff_t f = 0; f < layout->n_features; f++) {
    const Feature *feature = layout->features + f;
    int32_t *values = room->values + f * room->stride;
    int32_t differs = 0;
    feature_values(layout, room, mentions, i, feature, values);
    for (ptrdiff_t j = 0; j < room->n_used; j++)
      differs |= values[room->used[j]] ^ values[room->used[0]];
    if (differs) {
      room->varying[room->n_varying++] = (int32_t)f;
    } else {
      const int32_t place = feature->offset + values[room->used[0]];
      add(room->base, room->features + place * room->padded, room->padded);
      sum += direct[place];
    }
  }
  return sum;
}

#if LANES == 1
#define POSITIVE(x) ((x) > 0.0f ? (x) : 0.0f)
#else
#define POSITIVE(x) ((Lanes)((IntLanes)(x) & ((x) > 0.0f)))
#endif

/* The scores of n_rows <= ROWS cells in use. */
PART void score_cells(const Layout *layout, const Weights *weights, const Memory *memory,
                      const Room *room, ptrdiff_t first, int n_rows, float same,
                      const float *direct) {
  const ptrdiff_t D = weights->product_size, padded = room->padded;
  const int32_t *used = room->used + first;
  const float *compared[ROWS];
  const Lanes zero = {0};
  Lanes totals[ROWS];
  const float *varying[MOST_FEATURES][ROWS];
  float extra[ROWS];
  for (int r = 0; r < n_rows; r++) {
    compared[r] = memory->compared + used[r] * D;
    totals[r] = zero;
    extra[r] = same;
  }
  for (ptrdiff_t v = 0; v < room->n_varying; v++) {
    const ptrdiff_t f = room->varying[v], offset = layout->features[f].offset;
    const int32_t *values = room->values + f * room->stride;
    for (int r = 0; r < n_rows; r++) {
      const ptrdiff_t place = offset + values[used[r]];
      varying[v][r] = room->features + place * padded;
      extra[r] += direct[place];
    }
  }
  for (ptrdiff_t o = 0; o < padded; o += PANEL) {
    Lanes sums[ROWS][PER_PANEL];
    UNROLL for (int r = 0; r < n_rows; r++)
      UNROLL for (int p = 0; p < PER_PANEL; p++)
        sums[r][p] = ((const Lanes *)(room->scored + used[r] * padded + o))[p] +
                     ((const Lanes *)(room->base + o))[p];
    multiply_panel(room->scaled + o * D, n_rows, D, compared, sums);
    for (ptrdiff_t v = 0; v < room->n_varying; v++)
      UNROLL for (int r = 0; r < n_rows; r++)
        UNROLL for (int p = 0; p < PER_PANEL; p++)
          sums[r][p] += ((const Lanes *)(varying[v][r] + o))[p];
    UNROLL for (int r = 0; r < n_rows; r++)
      UNROLL for (int p = 0; p < PER_PANEL; p++)
        totals[r] += POSITIVE(sums[r][p]) * ((const Lanes *)(room->score + o))[p];
  }
  for (int r = 0; r < n_rows; r++)
    room->scores[first + r] = lanes_sum(totals[r]) + weights->score_bias + extra[r];
}

/* The scores of all cells in use for a mention. */
PART void score_mention(const Layout *layout, const Weights *weights, const Memory *memory,
                        Room *room, const Mentions *mentions, ptrdiff_t i) {
  const ptrdiff_t D = weights->product_size, S = weights->score_size;
  const float *products = mentions->products + i * D;
  const int32_t kind = mentions->fields[i * layout->n_fields + layout->kind];
  const float *direct = weights->kind_features + kind * layout->n_values;
  for (ptrdiff_t s = 0; s < room->padded; s++)
    room->base[s] = s < S ? mentions->queries[i * S + s] : 0.0f;
  const float same = all_features(layout, room, mentions, i, direct);
  for (ptrdiff_t panel = 0; panel < room->padded / PANEL; panel++)
    for (ptrdiff_t d = 0; d < D; d++) {
      const ptrdiff_t place = (panel * D + d) * PANEL;
      for (int p = 0; p < PANEL; p++)
        room->scaled[place + p] = room->panels[place + p] * products[d];
    }
  for (ptrdiff_t first = 0; first < room->n_used; first += ROWS) {
    switch (room->n_used - first) {
      case 1: score_cells(layout, weights, memory, room, first, 1, same, direct); break;
      case 2: score_cells(layout, weights, memory, room, first, 2, same, direct); break;
      case 3: score_cells(layout, weights, memory, room, first, 3, same, direct); break;
      case 4: score_cells(layout, weights, memory, room, first, 4, same, direct); break;
      case 5: score_cells(layout, weights, memory, room, first, 5, same, direct); break;
      default: score_cells(layout, weights, memory, room, first, ROWS, same, direct);
    }
  }
}

/* -- Cells -- */

/* The number of the mention that a cell is remembered as long as. */
PART int64_t standing(const Layout *layout, const Memory *memory, ptrdiff_t cell) {
  const int32_t *fields = memory->fields + cell * layout->n_cell_fields;
  const int32_t count = fields[layout->count], most = layout->most_bonuses;
  const int64_t bonuses = count - 1 < most ? count - 1 : most;
  return count > 0 ? fields[layout->latest] + layout->bonus * bonuses : -1;
}

PART ptrdiff_t least_salient(const Layout *layout, const Memory *memory) {
  ptrdiff_t least = 0;
  int64_t lowest = standing(layout, memory, 0);
  for (ptrdiff_t m = 1; m < memory->n_cells; m++) {
    const int64_t value = standing(layout, memory, m);
    if (value < lowest) least = m, lowest = value;
  }
  return least;
}

/* Put words first that are not there yet; the last ones fall out. */
static void insert(const Layout *layout, int32_t *sets, int32_t set, const int32_t *words,
                   ptrdiff_t n) {
  int32_t *kept = sets + layout->set_starts[set];
  const ptrdiff_t size = set_size(layout, set);
  for (ptrdiff_t i = 0; i < n; i++) {
    int known = words[i] == 0;
    for (ptrdiff_t w = 0; w < size; w++) known |= kept[w] == words[i];
    if (known) continue;
    memmove(kept + 1, kept, (size_t)(size - 1) * sizeof(int32_t));
    kept[0] = words[i];
  }
}

/* Put a mention into a cell: of a new entity, or of the one it holds. */
static void write_cell(const Layout *layout, Memory *memory, ptrdiff_t cell,
                       const Mentions *mentions, ptrdiff_t i, int is_new) {
  const ptrdiff_t W = layout->n_words;
  const int32_t *mention = mentions->fields + i * layout->n_fields;
  const int32_t *names = mentions->names + i * W, *words = mentions->words + i * W;
  int32_t *fields = memory->fields + cell * layout->n_cell_fields;
  int32_t *sets = memory->sets + cell * layout->n_set_words;
  if (is_new) {
    memset(fields, 0, (size_t)layout->n_cell_fields * sizeof(int32_t));
    memset(sets, 0, (size_t)layout->n_set_words * sizeof(int32_t));
  }
  for (ptrdiff_t f = 0; f < layout->n_fields; f++) {
    int keeps = 0;
    for (ptrdiff_t k = 0; k < layout->n_kept; k++) keeps |= layout->kept[k] == f;
    if (!keeps || mention[f]) fields[f] = mention[f];
  }
  fields[layout->count] += 1;
  fields[layout->latest] = (int32_t)memory->n_mentions;
  int named = 0;
  for (ptrdiff_t k = 0; k < layout->n_name_kinds; k++)
    named |= layout->name_kinds[k] == mention[layout->kind];
  const int sure = mention[layout->sure] != 0;
  fields[layout->groups] |= named  ? layout->name_group
                            : sure ? layout->noun_group
                                   : layout->pronoun_group;
  if (!sure) {
    insert(layout, sets, layout->pronouns, mention + layout->pronoun, 1);
    return;
  }
  insert(layout, sets, layout->heads, mention + layout->stem, 1);
  insert(layout, sets, layout->strings, mention + layout->string, 1);
  insert(layout, sets, layout->names, names, W);
  insert(layout, sets, layout->words, words, W);
  const size_t all = (size_t)W * sizeof(int32_t);
  memcpy(sets + layout->set_starts[layout->latest_names], names, all);
  memcpy(sets + layout->set_starts[layout->latest_words], words, all);
}

/* Work a mention's vector into what a cell is scored by. */
PART void write_vectors(const Layout *layout, const Weights *weights, Memory *memory,
                        Room *room, ptrdiff_t cell, const float *RESTRICT vector,
                        int is_new) {
  const ptrdiff_t V = weights->mention_size, S = weights->score_size;
  const ptrdiff_t D = weights->product_size;
  const int32_t count = memory->fields[cell * layout->n_cell_fields + layout->count];
  float *RESTRICT total = memory->total + cell * V, *RESTRICT mean = room->mean;
  float *seen = room->seen;
  for (ptrdiff_t v = 0; v < V; v++) {
    total[v] = is_new ? vector[v] : total[v] + vector[v];
    mean[v] = total[v] / (float)count;
  }
  multiply_vector(weights->latest, S + D, V, vector, seen);
  multiply_vector(weights->mean, S + D, V, mean, room->seen_mean);
  add(seen, room->seen_mean, S + D);
  memcpy(memory->scored + cell * S, seen, (size_t)S * sizeof(float));
  memcpy(memory->compared + cell * D, seen + S, (size_t)D * sizeof(float));
  if (room->own_scored)
    memcpy(room->own_scored + cell * room->padded, seen, (size_t)S * sizeof(float));
}

/* -- What is kept of cells by column -- */

PART void copy_columns(const Layout *layout, const Memory *memory, Room *room,
                       ptrdiff_t cell) {
  const int32_t *fields = memory->fields + cell * layout->n_cell_fields;
  const int32_t *sets = memory->sets + cell * layout->n_set_words;
  int32_t *column = room->columns + cell;
  for (ptrdiff_t f = 0; f < layout->n_cell_fields; f++, column += room->stride)
    *column = fields[f];
  for (ptrdiff_t w = 0; w < layout->n_set_words; w++, column += room->stride)
    *column = sets[w];
}

PART void list_used(const Layout *layout, const Memory *memory, Room *room) {
  const int32_t *count = room->columns + layout->count * room->stride;
  room->n_used = 0;
  for (ptrdiff_t m = 0; m < memory->n_cells; m++)
    if (count[m]) room->used[room->n_used++] = (int32_t)m;
  room->n_seen = room->n_used ? round_up(room->used[room->n_used - 1] + 1, 8) : 0;
}

PART void rank_cells(const Layout *layout, Room *room) {
  const int32_t *latest = room->columns + layout->latest * room->stride;
  for (ptrdiff_t j = 0; j < room->n_used; j++) {
    const int32_t cell = room->used[j];
    int32_t later = 0;
    for (ptrdiff_t k = 0; k < room->n_used; k++) {
      const int32_t other = latest[room->used[k]];
      later += other > latest[cell] || (other == latest[cell] && k < j);
    }
    room->rank[cell] = later;
  }
}

/* A cell has been mentioned, so it is the latest. */
PART void rank_first(const Memory *memory, Room *room, ptrdiff_t cell, int was_used) {
  const int32_t old = was_used ? room->rank[cell] : (int32_t)room->n_used;
  int32_t *RESTRICT rank = room->rank;
  for (ptrdiff_t m = 0; m < memory->n_cells; m++) rank[m] += rank[m] < old;
  rank[cell] = 0;
}

/* -- All mentions -- */

PART void read_mention(const Layout *layout, const Weights *weights, Memory *memory,
                       Room *room, const Mentions *mentions, ptrdiff_t i,
                       const Decisions *out) {
  const ptrdiff_t M = memory->n_cells;
  const float new_score = mentions->new_scores[i];
  float highest = new_score, total = 0.0f;
  ptrdiff_t best = -1;
  if (room->n_used) score_mention(layout, weights, memory, room, mentions, i);
  for (ptrdiff_t j = 0; j < room->n_used; j++)
    if (room->scores[j] > highest) best = j, highest = room->scores[j];
  for (ptrdiff_t j = 0; j < room->n_used; j++) {
    room->scores[j] = exponential(bounded(room->scores[j] - highest));
    total += room->scores[j];
  }
  const float new_share = exponential(bounded(new_score - highest));
  total += new_share;
  if (out->links)
    for (ptrdiff_t j = 0; j < room->n_used; j++)
      out->links[i * M + room->used[j]] = room->scores[j] / total;
  const int is_new = best < 0;
  const ptrdiff_t cell = is_new ? least_salient(layout, memory) : room->used[best];
  const int32_t *fields = memory->fields + cell * layout->n_cell_fields;
  const int was_used = fields[layout->count] != 0;
  out->antecedent[i] = is_new ? -1 : fields[layout->latest];
  out->probability[i] = (is_new ? new_share : room->scores[best]) / total;
  if (is_new) memory->entities[cell] = memory->n_entities++;
  write_cell(layout, memory, cell, mentions, i, is_new);
  memory->n_mentions++;
  write_vectors(layout, weights, memory, room, cell,
                mentions->vectors + i * weights->mention_size, is_new);
  rank_first(memory, room, cell, was_used);
  copy_columns(layout, memory, room, cell);
  if (!was_used) list_used(layout, memory, room);
  out->cell[i] = (int32_t)cell;
  out->is_new[i] = (uint8_t)is_new;
  out->entity[i] = memory->entities[cell];
  if (out->standing)
    for (ptrdiff_t m = 0; m < M; m++)
      out->standing[i * M + m] = standing(layout, memory, m);
}

static void read_anywhere(const Layout *layout, const Weights *weights, Memory *memory,
                          Room *room, const Mentions *mentions, const Decisions *out) {
  for (ptrdiff_t i = 0; i < mentions->n; i++)
    read_mention(layout, weights, memory, room, mentions, i, out);
}

#ifdef WIDE
WIDE static void read_wide(const Layout *layout, const Weights *weights, Memory *memory,
                           Room *room, const Mentions *mentions, const Decisions *out) {
  for (ptrdiff_t i = 0; i < mentions->n; i++)
    read_mention(layout, weights, memory, room, mentions, i, out);
}
#endif

/* Rows of `size` numbers made `padded` long with zeros. */
static void pad(const float *from, ptrdiff_t n_rows, ptrdiff_t size, ptrdiff_t padded,
                float *to) {
  memset(to, 0, (size_t)(n_rows * padded) * sizeof(float));
  for (ptrdiff_t row = 0; row < n_rows; row++)
    memcpy(to + row * padded, from + row * size, (size_t)size * sizeof(float));
}

PART float *take(float **store, ptrdiff_t n) {
  float *taken = *store;
  *store += n;
  return taken;
}

PART int32_t *take_ints(int32_t **store, ptrdiff_t n) {
  int32_t *taken = *store;
  *store += n;
  return taken;
}

/* Read all mentions; the memory is brought up to date.

   RETURNS 0, or -1 where there is no memory to work with. */
static int read_all(const Layout *layout, const Weights *weights, Memory *memory,
                    const Mentions *mentions, const Decisions *out) {
  const ptrdiff_t M = memory->n_cells, V = weights->mention_size;
  const ptrdiff_t S = weights->score_size, D = weights->product_size;
  const ptrdiff_t F = layout->n_features, stride = round_up(M, 8);
  const ptrdiff_t padded = round_up(S, PANEL);
  const ptrdiff_t n_copied = padded == S ? 0 : (layout->n_values + M) * padded;
  const ptrdiff_t n_columns = layout->n_cell_fields + layout->n_set_words;
  const ptrdiff_t n_ints = (n_columns + F + 5) * stride + F;
  const ptrdiff_t n_numbers = n_copied + 2 * (D + 1) * padded + M + V + 2 * (S + D);
  int32_t *ints = (int32_t *)calloc((size_t)n_ints, sizeof(int32_t));
  float *numbers = (float *)malloc((size_t)n_numbers * sizeof(float));
  const int failed = ints && numbers ? 0 : -1;
  if (!failed) {
    Room room;
    int32_t *int_store = ints;
    float *store = numbers;
    room.stride = stride;
    room.padded = padded;
    room.columns = take_ints(&int_store, n_columns * stride);
    room.values = take_ints(&int_store, F * stride);
    room.found = take_ints(&int_store, stride);
    room.filled = take_ints(&int_store, stride);
    room.any = take_ints(&int_store, stride);
    room.rank = take_ints(&int_store, stride);
    room.used = take_ints(&int_store, stride);
    room.varying = take_ints(&int_store, F);
    room.panels = take(&store, D * padded);
    room.scaled = take(&store, D * padded);
    room.score = take(&store, padded);
    room.base = take(&store, padded);
    room.scores = take(&store, M);
    room.mean = take(&store, V);
    room.seen = take(&store, S + D);
    room.seen_mean = take(&store, S + D);
    room.features = weights->features;
    room.scored = memory->scored;
    room.own_scored = NULL;
    if (n_copied) {
      float *features = take(&store, layout->n_values * padded);
      pad(weights->features, layout->n_values, S, padded, features);
      room.features = features;
      room.scored = room.own_scored = take(&store, M * padded);
      pad(memory->scored, M, S, padded, room.own_scored);
    }
    pack(weights->product, S, D, room.panels);
    pad(weights->score, 1, S, padded, room.score);
    for (ptrdiff_t m = 0; m < M; m++) copy_columns(layout, memory, &room, m);
    list_used(layout, memory, &room);
    rank_cells(layout, &room);
#ifdef WIDE
    if (HAS_WIDE) read_wide(layout, weights, memory, &room, mentions, out);
    else
#endif
      read_anywhere(layout, weights, memory, &room, mentions, out);
  }
  free(ints);
  free(numbers);
  return failed;
}

/* -- What must be true before anything is read -- */

PART int is_below(int32_t value, int32_t limit) { return value >= 0 && value < limit; }

/* Can all features be looked up that these fields have a part in?

   fields: Of a mention, or of a cell, which has all `n_fields`. */
static int in_range(const Layout *layout, const int32_t *fields, ptrdiff_t n_fields) {
  for (ptrdiff_t f = 0; f < layout->n_features; f++) {
    const Feature *feature = layout->features + f;
    const int pairs = feature->op == OP_PAIR;
    if (!pairs && feature->op != OP_VALUE) continue;
    const int32_t limit = pairs ? feature->inner : feature->size;
    if (feature->cell < n_fields && !is_below(fields[feature->cell], limit)) return 0;
    if (pairs && n_fields == layout->n_fields &&
        !is_below(fields[feature->mention], feature->size / feature->inner))
      return 0;
  }
  return is_below(fields[layout->kind], layout->n_kinds);
}

/* The first cell that no reading could have left like this, or -1. */
static ptrdiff_t wrong_cell(const Layout *layout, const Memory *memory) {
  for (ptrdiff_t m = 0; m < memory->n_cells; m++) {
    const int32_t *fields = memory->fields + m * layout->n_cell_fields;
    const int32_t count = fields[layout->count];
    if (count == 0) continue;
    if (count < 0 || count > memory->n_mentions || fields[layout->latest] < 0 ||
        fields[layout->latest] >= memory->n_mentions || memory->entities[m] < 0 ||
        memory->entities[m] >= memory->n_entities ||
        !in_range(layout, fields, layout->n_cell_fields))
      return m;
  }
  return -1;
}

/* The first mention whose fields no table has, or -1. */
static ptrdiff_t wrong_mention(const Layout *layout, const Mentions *mentions) {
  for (ptrdiff_t i = 0; i < mentions->n; i++)
    if (!in_range(layout, mentions->fields + i * layout->n_fields, layout->n_fields))
      return i;
  return -1;
}

#endif
