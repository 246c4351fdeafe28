/* The reader at inference, compiled: documents side by side, token by token.

   The equations are those of `reader` and `memory`; the torch reader is the definition,
   and a test compares them. Weights are read where torch keeps them, each as (out, in).

   Shapes: N tokens of all documents, B documents side by side, M memory cells, H hidden
   and value size, K key size, C what all heads say: 3 gates, a query and a key. */

#ifndef REFREADER_KERNEL_H
#define REFREADER_KERNEL_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* One reading is compiled twice where the compiler can: for any processor, and for those
   that multiply eight numbers at once. Everything else here is part of both. */
#if defined(__GNUC__) && defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#define HAS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#endif

/* Documents that are read side by side: a weight that was fetched serves them all, and
   what they are working with is still at hand at the next token. */
#define SIDE_BY_SIDE 16

#if defined(__GNUC__)
#define PART static inline __attribute__((always_inline))
#else
#define PART static inline
#endif

typedef struct {
  const float *weight; /* (out, in) */
  const float *bias;   /* (out,), or NULL */
} Layer;

typedef struct {
  ptrdiff_t hidden_size, key_size, n_cells;
  float entity_decay, word_decay, link_bias;
  float tolerance;       /* a gate below it leaves keys and values as they are */
  Layer pre;             /* (H, H) */
  Layer heads;           /* (C, H); the gates' are negated */
  Layer query, key;      /* (K, K) */
  Layer value;           /* (H, H) */
  Layer key_ih, key_hh;  /* (3K, K) */
  Layer value_ih, value_hh; /* (3H, H) */
  Layer recurrent;       /* (3H, H); only the candidate has a bias */
} Reader;

/* What is read: all documents' tokens, one document after the other. */
typedef struct {
  ptrdiff_t n;
  const float *projected; /* the inputs' part of the products; rows of 4H: of the
    pre-recurrent state, then of the hidden state's gates, the sigmoids' negated */
  const ptrdiff_t *which; /* each token's row (N,) */
} Tokens;

/* What is known of B documents; it is written over. */
typedef struct {
  float *hidden;   /* (B, H) */
  float *keys;     /* (B, M, K) */
  float *values;   /* (B, M, H) */
  float *salience; /* (B, M) */
} Memory;

/* Room for what a step works with. */
typedef struct {
  float *pre, *mixed;          /* (B, H) */
  float *said;                 /* (B, C) */
  float *recurrent;            /* (B, 3H) */
  float *query, *match;        /* (K,), (M,) */
  float *key, *value;          /* (K,), (H,) */
  float *inputs, *old;         /* (3H,) */
} Room;

/* Beyond this, gates are open or closed for good, and exp must not overflow. */
PART float bounded(float x) { return x < -80.0f ? -80.0f : x > 80.0f ? 80.0f : x; }

PART float sigmoid(float x) { return 1.0f / (1.0f + expf(-bounded(x))); }

PART float smooth(float x) { return 1.0f - 2.0f / (1.0f + expf(bounded(2.0f * x))); }

PART void smooth_all(float *x, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) x[i] = smooth(x[i]);
}

/* Sums of products of rows with vectors, all n numbers long: eight at a time, as one
   addition needs not wait for another's end.

   sums: Of each row with each vector (n_rows, n_vectors), n_rows * n_vectors <= 8. */
PART void eight(const float *restrict rows, int n_rows, const float *restrict vectors,
                int n_vectors, ptrdiff_t n, float *sums) {
  float sum[8] = {0};
  for (ptrdiff_t i = 0; i < n; i++)
    for (int r = 0; r < n_rows; r++)
      for (int v = 0; v < n_vectors; v++)
        sum[r * n_vectors + v] += rows[r * n + i] * vectors[v * n + i];
  for (int k = 0; k < n_rows * n_vectors; k++) sums[k] = sum[k];
}

/* y = x W' + b for B documents: weights that are fetched once serve all of them. */
PART void products(Layer layer, ptrdiff_t n_out, ptrdiff_t n_in, ptrdiff_t n_docs,
                   const float *restrict x, float *restrict y) {
  float sums[8];
  const ptrdiff_t in_fours = n_docs - n_docs % 4;
  for (ptrdiff_t o = 0; o < n_out && in_fours; o += 2) {
    const float *w = layer.weight + o * n_in;
    const int two = o + 2 <= n_out;
    for (ptrdiff_t doc = 0; doc < in_fours; doc += 4) {
      if (two)
        eight(w, 2, x + doc * n_in, 4, n_in, sums);
      else
        eight(w, 1, x + doc * n_in, 4, n_in, sums);
      float *restrict out = y + doc * n_out + o;
      for (int v = 0; v < 4; v++) {
        out[v * n_out] = sums[v];
        if (two) out[v * n_out + 1] = sums[4 + v];
      }
    }
  }
  for (ptrdiff_t doc = in_fours; doc < n_docs; doc++) {
    float *restrict out = y + doc * n_out;
    ptrdiff_t o = 0;
    for (; o + 8 <= n_out; o += 8)
      eight(layer.weight + o * n_in, 8, x + doc * n_in, 1, n_in, out + o);
    for (; o < n_out; o++)
      eight(layer.weight + o * n_in, 1, x + doc * n_in, 1, n_in, out + o);
  }
  for (ptrdiff_t doc = 0; doc < n_docs && layer.bias; doc++)
    for (ptrdiff_t o = 0; o < n_out; o++) y[doc * n_out + o] += layer.bias[o];
}

/* Work something new into a cell by `amount`: a gated recurrent unit. */
PART void work_in(Layer ih, Layer hh, ptrdiff_t size, const float *restrict new,
                  float *restrict cell, float amount, const Room *room) {
  float *restrict inputs = room->inputs, *restrict old = room->old;
  products(ih, 3 * size, size, 1, new, inputs);
  products(hh, 3 * size, size, 1, cell, old);
  for (ptrdiff_t i = 0; i < size; i++) {
    const float reset = sigmoid(inputs[i] + old[i]);
    const float keep = sigmoid(inputs[size + i] + old[size + i]);
    const float candidate = smooth(inputs[2 * size + i] + reset * old[2 * size + i]);
    cell[i] += amount * (candidate + keep * (cell[i] - candidate) - cell[i]);
  }
}

PART void mix(float *restrict cell, const float *restrict new, ptrdiff_t size,
              float share) {
  for (ptrdiff_t i = 0; i < size; i++) cell[i] += share * (new[i] - cell[i]);
}

/* Change a document's keys and values where a gate is large enough.

   place: The cell that is overwritten, by how much remains. A cell is both updated and
   overwritten by what it held before, as in the definition. */
PART void write_cells(const Reader *r, const Room *room, const float *pre, float *said,
                      float *keys, float *values, const float *update,
                      ptrdiff_t place, float remaining) {
  const ptrdiff_t H = r->hidden_size, K = r->key_size;
  float *key_in = said + 3 + K;
  smooth_all(key_in, K);
  products(r->key, K, K, 1, key_in, room->key);
  smooth_all(room->key, K);
  for (ptrdiff_t i = 0; i < K; i++) room->key[i] += key_in[i];
  products(r->value, H, H, 1, pre, room->value);
  smooth_all(room->value, H);
  for (ptrdiff_t m = 0; m < r->n_cells; m++) {
    float *key = keys + m * K, *value = values + m * H;
    const float share = m == place && remaining >= r->tolerance ? remaining : 0.0f;
    if (update[m] >= r->tolerance) {
      /* What stays of the cell is 1 - update - share: the update's part is larger by
         so much that mixing the new one in afterwards leaves the definition's. */
      const float amount = share < 1.0f ? update[m] / (1.0f - share) : 0.0f;
      work_in(r->key_ih, r->key_hh, K, room->key, key, amount, room);
      work_in(r->value_ih, r->value_hh, H, room->value, value, amount, room);
    }
    if (share > 0.0f) {
      mix(key, room->key, K, share);
      mix(value, room->value, H, share);
    }
  }
}

/* Let a document's token update and overwrite the cells, and forget a little.

   RETURNS how much the hidden state takes from the memory. */
PART float remember(const Reader *r, const Room *room, const float *pre, float *said,
                    float *keys, float *values, float *salience, float *update,
                    float *overwrite) {
  const ptrdiff_t K = r->key_size, M = r->n_cells;
  const float entity = sigmoid(-said[0]), use = sigmoid(-said[2]);
  const float reference = sigmoid(-said[1]) * entity;
  smooth_all(said + 3, K);
  products(r->query, K, K, 1, said + 3, room->query);
  float highest = 0.0f; /* of all matches and of: no link */
  for (ptrdiff_t m = 0; m < M; m++) {
    float score = r->link_bias;
    for (ptrdiff_t k = 0; k < K; k++) score += keys[m * K + k] * room->query[k];
    room->match[m] = score;
    if (score > highest) highest = score;
  }
  float total = expf(-bounded(highest));
  for (ptrdiff_t m = 0; m < M; m++) {
    room->match[m] = expf(bounded(room->match[m] - highest));
    total += room->match[m];
  }
  float remaining = entity, largest = 0.0f;
  ptrdiff_t place = 0;
  for (ptrdiff_t m = 0; m < M; m++) {
    const float wish = reference * room->match[m] / total;
    update[m] = wish < 2.0f * salience[m] ? wish : 2.0f * salience[m];
    remaining -= update[m];
    if (update[m] > largest) largest = update[m];
    if (salience[m] < salience[place]) place = m;
  }
  if (remaining >= r->tolerance || largest >= r->tolerance)
    write_cells(r, room, pre, said, keys, values, update, place, remaining);
  const float decay = r->word_decay + (r->entity_decay - r->word_decay) * entity;
  float present = 0.0f;
  for (ptrdiff_t m = 0; m < M; m++) {
    overwrite[m] = m == place ? remaining : 0.0f;
    const float keep = 1.0f - update[m] - overwrite[m];
    salience[m] = decay * keep * salience[m] + update[m] + overwrite[m];
    present += salience[m];
  }
  return use < present ? use : present;
}

PART const float *projection(const Reader *r, const Tokens *tokens, ptrdiff_t token) {
  return tokens->projected + tokens->which[token] * 4 * r->hidden_size;
}

/* Read token t of the first B documents.

   starts: Where each document's tokens begin.
   gates: Where update, overwrite and salience go (3, N, M). */
PART void step(const Reader *r, const Memory *memory, const Room *room,
               ptrdiff_t n_docs, ptrdiff_t t, const Tokens *tokens,
               const ptrdiff_t *starts, float *gates) {
  const ptrdiff_t H = r->hidden_size, K = r->key_size, M = r->n_cells;
  const ptrdiff_t C = 3 + 2 * K, all = tokens->n * M;
  products(r->pre, H, H, n_docs, memory->hidden, room->pre);
  for (ptrdiff_t b = 0; b < n_docs; b++) {
    const float *restrict input = projection(r, tokens, starts[b] + t);
    float *restrict pre = room->pre + b * H;
    for (ptrdiff_t i = 0; i < H; i++) pre[i] = smooth(pre[i] + input[i]);
  }
  products(r->heads, C, H, n_docs, room->pre, room->said);
  for (ptrdiff_t b = 0; b < n_docs; b++) {
    float *cells = memory->values + b * M * H, *present = memory->salience + b * M;
    float *update = gates + (starts[b] + t) * M;
    const float use = remember(r, room, room->pre + b * H, room->said + b * C,
                               memory->keys + b * M * K, cells, present, update,
                               update + all);
    const float *restrict hidden = memory->hidden + b * H;
    float *restrict mixed = room->mixed + b * H;
    for (ptrdiff_t i = 0; i < H; i++) mixed[i] = (1.0f - use) * hidden[i];
    for (ptrdiff_t m = 0; m < M; m++) {
      const float share = use * present[m];
      const float *restrict value = cells + m * H;
      update[2 * all + m] = present[m];
      for (ptrdiff_t i = 0; i < H; i++) mixed[i] += share * value[i];
    }
  }
  products(r->recurrent, 3 * H, H, n_docs, room->mixed, room->recurrent);
  for (ptrdiff_t b = 0; b < n_docs; b++) {
    const float *restrict input = projection(r, tokens, starts[b] + t) + H;
    const float *restrict old = room->recurrent + b * 3 * H;
    const float *restrict mixed = room->mixed + b * H;
    float *restrict hidden = memory->hidden + b * H;
    for (ptrdiff_t i = 0; i < H; i++) {
      const float reset = sigmoid(old[i] - input[i]);
      const float keep = sigmoid(old[H + i] - input[H + i]);
      const float candidate = smooth(input[2 * H + i] + reset * old[2 * H + i]);
      hidden[i] = candidate + keep * (mixed[i] - candidate);
    }
  }
}

/* Documents that stand side by side, the longest first.

   starts: Where each document's tokens begin, and where the last one's end (B + 1,). */
PART void all_steps(const Reader *r, const Memory *memory, const Room *room,
                    ptrdiff_t n_docs, const Tokens *tokens, const ptrdiff_t *starts,
                    float *gates) {
  for (ptrdiff_t t = 0; t < starts[1] - starts[0]; t++) {
    while (starts[n_docs] - starts[n_docs - 1] <= t) n_docs--;
    step(r, memory, room, n_docs, t, tokens, starts, gates);
  }
}

static void all_steps_anywhere(const Reader *r, const Memory *memory, const Room *room,
                               ptrdiff_t n_docs, const Tokens *tokens,
                               const ptrdiff_t *starts, float *gates) {
  all_steps(r, memory, room, n_docs, tokens, starts, gates);
}

#ifdef WIDE
WIDE static void all_steps_wide(const Reader *r, const Memory *memory, const Room *room,
                                ptrdiff_t n_docs, const Tokens *tokens,
                                const ptrdiff_t *starts, float *gates) {
  all_steps(r, memory, room, n_docs, tokens, starts, gates);
}
#endif

/* Read all documents, the longest first, some at a time.

   RETURNS 0, or -1 where there is no memory to work with. */
static int read_tokens(const Reader *r, Memory memory, ptrdiff_t n_docs, Tokens tokens,
                       const ptrdiff_t *starts, float *gates) {
  const ptrdiff_t H = r->hidden_size, K = r->key_size, M = r->n_cells;
  const ptrdiff_t C = 3 + 2 * K, large = H > K ? H : K;
  const ptrdiff_t B = n_docs < SIDE_BY_SIDE ? n_docs : SIDE_BY_SIDE;
  const ptrdiff_t n = B * (2 * H + C + 3 * H) + 2 * K + M + H + 6 * large;
  float *room_for_all = (float *)malloc((size_t)n * sizeof(float));
  if (!room_for_all) return -1;
  Room room;
  room.pre = room_for_all;
  room.mixed = room.pre + B * H;
  room.said = room.mixed + B * H;
  room.recurrent = room.said + B * C;
  room.query = room.recurrent + B * 3 * H;
  room.match = room.query + K;
  room.key = room.match + M;
  room.value = room.key + K;
  room.inputs = room.value + H;
  room.old = room.inputs + 3 * large;
  void (*steps)(const Reader *, const Memory *, const Room *, ptrdiff_t, const Tokens *,
                const ptrdiff_t *, float *) = all_steps_anywhere;
#ifdef WIDE
  if (HAS_WIDE) steps = all_steps_wide;
#endif
  for (ptrdiff_t first = 0; first < n_docs; first += B) {
    const ptrdiff_t some = n_docs - first < B ? n_docs - first : B;
    steps(r, &memory, &room, some, &tokens, starts + first, gates);
    memory.hidden += some * H;
    memory.keys += some * M * K;
    memory.values += some * M * H;
    memory.salience += some * M;
  }
  free(room_for_all);
  return 0;
}

#endif
