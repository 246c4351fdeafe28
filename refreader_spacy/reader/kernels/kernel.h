/* The reader at inference, compiled: documents side by side, token by token.

   The equations are those of `reader` and `memory`; the torch reader is the definition,
   and a test compares them. Weights are read where torch keeps them, each as (out, in);
   for several documents at once they are laid out anew.

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

/* Documents that are read side by side: a weight that was fetched serves them all. */
#define SIDE_BY_SIDE 96

/* Tokens from which it pays to lay weights out for that. */
#define PACK_FROM 64

#if defined(__GNUC__)
#define PART static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")
#define LANES 8
typedef float Lanes __attribute__((vector_size(32), aligned(4), may_alias));
#else
#define PART static inline
#define UNROLL
#define LANES 1
typedef float Lanes;
#endif

/* What one product works on: its sums stay in the processor's registers. */
#define ROWS 6
#define PANEL 16

typedef struct {
  const float *weight; /* (out, in) */
  const float *bias;   /* (out,), or NULL */
  float *panels;       /* the same as (out / PANEL, in, PANEL), or NULL */
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

/* A cell that is updated, and by how much. */
typedef struct {
  float *key, *value;
  ptrdiff_t writer; /* whose new key and value are worked in */
  float amount;
} Update;

/* Room for what a step works with, of B documents; W of them write. */
typedef struct {
  float *pre, *mixed;   /* (B, H) */
  float *said;          /* (B, C) */
  float *query;         /* (B, K) */
  float *recurrent;     /* (B, 3H) */
  float *match;         /* (M,) */
  float *use;           /* how much the hidden state takes from the memory (B,) */
  float **gates;        /* where updates go, and overwrites and saliences later (B,) */
  ptrdiff_t *writers;   /* (W,) */
  float *keys, *values; /* what is written (W, K), (W, H) */
  ptrdiff_t n_updates;  /* that there is room for: B */
  Update *updates;      /* (B,) */
  float *new, *cells;   /* of updates (B, H) */
  float *inputs, *old;  /* of updates (B, 3H) */
} Room;

/* Beyond this, gates are open or closed for good, and exp must not overflow. */
PART float bounded(float x) { return x < -80.0f ? -80.0f : x > 80.0f ? 80.0f : x; }

PART float sigmoid(float x) { return 1.0f / (1.0f + expf(-bounded(x))); }

PART float smooth(float x) { return 1.0f - 2.0f / (1.0f + expf(bounded(2.0f * x))); }

PART void copy(float *restrict to, const float *restrict from, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) to[i] = from[i];
}

PART void smooth_all(float *x, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) x[i] = smooth(x[i]);
}

/* Sums of products of n_rows <= 8 rows with a vector, all n numbers long: eight at a
   time, as one addition needs not wait for another's end. */
PART void eight(const float *restrict rows, int n_rows, const float *restrict vector,
                ptrdiff_t n, float *sums) {
  float sum[8] = {0};
  for (ptrdiff_t i = 0; i < n; i++)
    for (int r = 0; r < n_rows; r++) sum[r] += rows[r * n + i] * vector[i];
  for (int r = 0; r < n_rows; r++) sums[r] = sum[r];
}

/* y = x W' for one document. */
PART void product(Layer layer, ptrdiff_t n_out, ptrdiff_t n_in, const float *restrict x,
                  float *restrict y) {
  ptrdiff_t o = 0;
  for (; o + 8 <= n_out; o += 8) eight(layer.weight + o * n_in, 8, x, n_in, y + o);
  for (; o < n_out; o++) eight(layer.weight + o * n_in, 1, x, n_in, y + o);
}

/* y = x W' for n_rows <= ROWS documents and a panel's n_out <= PANEL outputs: all sums
   stay in registers. */
PART void block(const float *restrict panel, int n_rows, ptrdiff_t n_in,
                const float *restrict x, ptrdiff_t n_out, float *restrict y,
                ptrdiff_t stride) {
  Lanes sums[ROWS][PANEL / LANES] = {{{0}}};
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
                   const float *restrict x, float *restrict y) {
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

/* Work something new into n cells by so much each: a gated recurrent unit.

   new, cells: (n, size). */
PART void work_in(Layer ih, Layer hh, ptrdiff_t size, ptrdiff_t n, const Room *room) {
  products(ih, 3 * size, size, n, room->new, room->inputs);
  products(hh, 3 * size, size, n, room->cells, room->old);
  for (ptrdiff_t k = 0; k < n; k++) {
    const float *restrict inputs = room->inputs + k * 3 * size;
    const float *restrict old = room->old + k * 3 * size;
    float *restrict cell = room->cells + k * size;
    const float amount = room->updates[k].amount;
    for (ptrdiff_t i = 0; i < size; i++) {
      const float reset = sigmoid(inputs[i] + old[i]);
      const float keep = sigmoid(inputs[size + i] + old[size + i]);
      const float candidate = smooth(inputs[2 * size + i] + reset * old[2 * size + i]);
      cell[i] += amount * (candidate + keep * (cell[i] - candidate) - cell[i]);
    }
  }
}

/* Update n cells, of any documents. */
PART void update_cells(const Reader *r, const Room *room, ptrdiff_t n) {
  const ptrdiff_t H = r->hidden_size, K = r->key_size;
  const Update *updates = room->updates;
  for (ptrdiff_t k = 0; k < n; k++) {
    copy(room->new + k * K, room->keys + updates[k].writer * K, K);
    copy(room->cells + k * K, updates[k].key, K);
  }
  work_in(r->key_ih, r->key_hh, K, n, room);
  for (ptrdiff_t k = 0; k < n; k++) copy(updates[k].key, room->cells + k * K, K);
  for (ptrdiff_t k = 0; k < n; k++) {
    copy(room->new + k * H, room->values + updates[k].writer * H, H);
    copy(room->cells + k * H, updates[k].value, H);
  }
  work_in(r->value_ih, r->value_hh, H, n, room);
  for (ptrdiff_t k = 0; k < n; k++) copy(updates[k].value, room->cells + k * H, H);
}

PART void mix(float *restrict cell, const float *restrict new, ptrdiff_t size,
              float share) {
  for (ptrdiff_t i = 0; i < size; i++) cell[i] += share * (new[i] - cell[i]);
}

/* What documents that write have to say: their new keys and values. */
PART void write_down(const Reader *r, const Room *room, ptrdiff_t n_writers) {
  const ptrdiff_t H = r->hidden_size, K = r->key_size, C = 3 + 2 * K;
  for (ptrdiff_t w = 0; w < n_writers; w++) {
    const ptrdiff_t b = room->writers[w];
    copy(room->cells + w * K, room->said + b * C + 3 + K, K);
    copy(room->new + w * H, room->pre + b * H, H);
  }
  smooth_all(room->cells, n_writers * K);
  products(r->key, K, K, n_writers, room->cells, room->keys);
  smooth_all(room->keys, n_writers * K);
  for (ptrdiff_t i = 0; i < n_writers * K; i++) room->keys[i] += room->cells[i];
  products(r->value, H, H, n_writers, room->new, room->values);
  smooth_all(room->values, n_writers * H);
}

/* Change keys and values where a gate is large enough.

   all: How much later than updates overwrites are. A cell is both updated and
   overwritten by what it held before, as in the definition. */
PART void write_cells(const Reader *r, const Memory *memory, const Room *room,
                      ptrdiff_t n_writers, ptrdiff_t all) {
  const ptrdiff_t H = r->hidden_size, K = r->key_size, M = r->n_cells;
  ptrdiff_t n = 0;
  write_down(r, room, n_writers);
  for (ptrdiff_t w = 0; w < n_writers; w++)
    for (ptrdiff_t m = 0; m < M; m++) {
      const float *gate = room->gates[room->writers[w]] + m;
      if (gate[0] < r->tolerance) continue;
      /* What stays of the cell is 1 - update - share: the update's part is larger by
         so much that mixing the new one in afterwards leaves the definition's. */
      const float share = gate[all] >= r->tolerance ? gate[all] : 0.0f;
      const ptrdiff_t cell = room->writers[w] * M + m;
      room->updates[n].key = memory->keys + cell * K;
      room->updates[n].value = memory->values + cell * H;
      room->updates[n].writer = w;
      room->updates[n].amount = share < 1.0f ? gate[0] / (1.0f - share) : 0.0f;
      if (++n == room->n_updates) {
        update_cells(r, room, n);
        n = 0;
      }
    }
  if (n) update_cells(r, room, n);
  for (ptrdiff_t w = 0; w < n_writers; w++)
    for (ptrdiff_t m = 0; m < M; m++) {
      const float share = room->gates[room->writers[w]][all + m];
      const ptrdiff_t cell = room->writers[w] * M + m;
      if (share < r->tolerance) continue;
      mix(memory->keys + cell * K, room->keys + w * K, K, share);
      mix(memory->values + cell * H, room->values + w * H, H, share);
    }
}

/* Decide how much a document's token updates and overwrites the cells, and forget a
   little.

   RETURNS whether it writes anything. */
PART int decide(const Reader *r, const Room *room, ptrdiff_t b, const float *keys,
                float *salience, ptrdiff_t all) {
  const ptrdiff_t K = r->key_size, M = r->n_cells;
  const float *said = room->said + b * (3 + 2 * K), *query = room->query + b * K;
  float *update = room->gates[b], *overwrite = update + all;
  const float entity = sigmoid(-said[0]), use = sigmoid(-said[2]);
  const float reference = sigmoid(-said[1]) * entity;
  float highest = 0.0f; /* of all matches and of: no link */
  for (ptrdiff_t m = 0; m < M; m++) {
    float score = r->link_bias;
    for (ptrdiff_t k = 0; k < K; k++) score += keys[m * K + k] * query[k];
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
  const float decay = r->word_decay + (r->entity_decay - r->word_decay) * entity;
  float present = 0.0f;
  for (ptrdiff_t m = 0; m < M; m++) {
    overwrite[m] = m == place ? remaining : 0.0f;
    const float keep = 1.0f - update[m] - overwrite[m];
    salience[m] = decay * keep * salience[m] + update[m] + overwrite[m];
    overwrite[all + m] = salience[m];
    present += salience[m];
  }
  room->use[b] = use < present ? use : present;
  return remaining >= r->tolerance || largest >= r->tolerance;
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
  for (ptrdiff_t b = 0; b < n_docs; b++)
    copy(room->cells + b * K, room->said + b * C + 3, K);
  smooth_all(room->cells, n_docs * K);
  products(r->query, K, K, n_docs, room->cells, room->query);
  ptrdiff_t n_writers = 0;
  for (ptrdiff_t b = 0; b < n_docs; b++) {
    room->gates[b] = gates + (starts[b] + t) * M;
    if (decide(r, room, b, memory->keys + b * M * K, memory->salience + b * M, all))
      room->writers[n_writers++] = b;
  }
  if (n_writers) write_cells(r, memory, room, n_writers, all);
  for (ptrdiff_t b = 0; b < n_docs; b++) {
    const float use = room->use[b], *restrict hidden = memory->hidden + b * H;
    float *restrict mixed = room->mixed + b * H;
    for (ptrdiff_t i = 0; i < H; i++) mixed[i] = (1.0f - use) * hidden[i];
    for (ptrdiff_t m = 0; m < M; m++) {
      const float share = use * memory->salience[b * M + m];
      const float *restrict value = memory->values + (b * M + m) * H;
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

/* All of a reader's weights as panels, one after the other.

   panels: Where they go, or NULL to learn how many numbers that takes. */
static ptrdiff_t pack_all(Reader *r, float *panels) {
  const ptrdiff_t H = r->hidden_size, K = r->key_size;
  ptrdiff_t n = pack(&r->pre, H, H, panels);
  n += pack(&r->heads, 3 + 2 * K, H, panels ? panels + n : NULL);
  n += pack(&r->query, K, K, panels ? panels + n : NULL);
  n += pack(&r->key, K, K, panels ? panels + n : NULL);
  n += pack(&r->value, H, H, panels ? panels + n : NULL);
  n += pack(&r->key_ih, 3 * K, K, panels ? panels + n : NULL);
  n += pack(&r->key_hh, 3 * K, K, panels ? panels + n : NULL);
  n += pack(&r->value_ih, 3 * H, H, panels ? panels + n : NULL);
  n += pack(&r->value_hh, 3 * H, H, panels ? panels + n : NULL);
  n += pack(&r->recurrent, 3 * H, H, panels ? panels + n : NULL);
  return n;
}

/* Take n numbers from a store. */
PART float *take(float **store, ptrdiff_t n) {
  float *taken = *store;
  *store += n;
  return taken;
}

/* Read all documents, the longest first, some at a time.

   RETURNS 0, or -1 where there is no memory to work with. */
static int read_tokens(const Reader *unpacked, Memory memory, ptrdiff_t n_docs,
                       Tokens tokens, const ptrdiff_t *starts, float *gates) {
  Reader r = *unpacked;
  const ptrdiff_t H = r.hidden_size, K = r.key_size, M = r.n_cells;
  const ptrdiff_t C = 3 + 2 * K, large = H > K ? H : K;
  const ptrdiff_t B = n_docs < SIDE_BY_SIDE ? n_docs : SIDE_BY_SIDE;
  const int packs = n_docs > 1 && tokens.n >= PACK_FROM;
  const ptrdiff_t n_panels = packs ? pack_all(&r, NULL) : 0;
  const ptrdiff_t n = B * (6 * H + C + 2 * K + 1 + 8 * large) + M;
  float *numbers = (float *)malloc((size_t)(n_panels + n) * sizeof(float));
  Update *updates = (Update *)malloc((size_t)B * sizeof(Update));
  ptrdiff_t *writers = (ptrdiff_t *)malloc((size_t)B * sizeof(ptrdiff_t));
  float **places = (float **)malloc((size_t)B * sizeof(float *));
  const int failed = numbers && updates && writers && places ? 0 : -1;
  if (!failed) {
    float *store = numbers;
    if (packs) pack_all(&r, take(&store, n_panels));
    Room room;
    room.pre = take(&store, B * H);
    room.mixed = take(&store, B * H);
    room.said = take(&store, B * C);
    room.query = take(&store, B * K);
    room.recurrent = take(&store, B * 3 * H);
    room.match = take(&store, M);
    room.use = take(&store, B);
    room.gates = places;
    room.writers = writers;
    room.keys = take(&store, B * K);
    room.values = take(&store, B * H);
    room.n_updates = B;
    room.updates = updates;
    room.new = take(&store, B * large);
    room.cells = take(&store, B * large);
    room.inputs = take(&store, B * 3 * large);
    room.old = take(&store, B * 3 * large);
    void (*steps)(const Reader *, const Memory *, const Room *, ptrdiff_t,
                  const Tokens *, const ptrdiff_t *, float *) = all_steps_anywhere;
#ifdef WIDE
    if (HAS_WIDE) steps = all_steps_wide;
#endif
    for (ptrdiff_t first = 0; first < n_docs; first += B) {
      const ptrdiff_t some = n_docs - first < B ? n_docs - first : B;
      steps(&r, &memory, &room, some, &tokens, starts + first, gates);
      memory.hidden += some * H;
      memory.keys += some * M * K;
      memory.values += some * M * H;
      memory.salience += some * M;
    }
  }
  free(numbers);
  free(updates);
  free(writers);
  free(places);
  return failed;
}

/* The recurrent unit alone, for documents side by side, the longest first.

   projected: Rows of 3H, the sigmoids' negated.
   hidden: (B, H), written over. out: All documents' hidden states (N, H). */
PART void recur_steps(const Layer *recurrent, ptrdiff_t H, float *restrict hidden,
                      float *restrict room, ptrdiff_t n_docs, const Tokens *tokens,
                      const ptrdiff_t *starts, float *restrict out) {
  for (ptrdiff_t t = 0; t < starts[1] - starts[0]; t++) {
    while (starts[n_docs] - starts[n_docs - 1] <= t) n_docs--;
    products(*recurrent, 3 * H, H, n_docs, hidden, room);
    for (ptrdiff_t b = 0; b < n_docs; b++) {
      const ptrdiff_t token = starts[b] + t;
      const float *restrict input = tokens->projected + tokens->which[token] * 3 * H;
      const float *restrict old = room + b * 3 * H;
      float *restrict now = hidden + b * H;
      for (ptrdiff_t i = 0; i < H; i++) {
        const float reset = sigmoid(old[i] - input[i]);
        const float keep = sigmoid(old[H + i] - input[H + i]);
        const float candidate = smooth(input[2 * H + i] + reset * old[2 * H + i]);
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
