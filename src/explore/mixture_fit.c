#include "explore/mixture_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"

enum { ROUNDS = 4 };

/* Sums over the points of one component's share: of the weights, of their squares, and of distances, as far as a t
 * makes something of them. */
typedef struct share {
    double weight, square, distance;
} share;

typedef struct work {
    ais_components *mixture;
    size_t n, dim;
    const double *x;
    const double *logp;
    double *chance;   /* n: weights, of sum 1 */
    double effective; /* draws that they stand for */
    share *share;
    double *logq, *part; /* AIS_BLOCK; AIS_BLOCK x count */
    double *factor;      /* dim x dim */
    double *prior;       /* count: weights before */
    ais_arena arena;
} work;

static bool take(work *this) {
    size_t count = (size_t)this->mixture->count;
    this->chance = AIS_TAKE(&this->arena, double, this->n);
    this->share = AIS_TAKE(&this->arena, share, count);
    this->logq = AIS_TAKE(&this->arena, double, AIS_BLOCK);
    this->part = AIS_TAKE(&this->arena, double, AIS_BLOCK *count);
    this->factor = AIS_TAKE(&this->arena, double, this->dim *this->dim);
    this->prior = AIS_TAKE(&this->arena, double, count);
    if (this->prior) memcpy(this->prior, this->mixture->weight, count * sizeof(double));
    return this->chance && this->share && this->logq && this->part && this->factor && this->prior;
}

static void add_rows(work *this, size_t first, size_t rows, ais_pool *pool) {
    const ais_components *mixture = this->mixture;
    size_t dim = this->dim, count = (size_t)mixture->count;
    ais_components_logq(mixture, rows, this->x + first * dim, this->logq, this->part, pool);
    for (size_t c = 0; c < rows; c++)
        for (size_t k = 0; k < count; k++) {
            double w = this->chance[first + c] * this->part[c * count + k];
            if (!(w > 1e-12)) continue;
            share *to = &this->share[k];
            double distance = ais_components_distance(mixture, (int)k, this->x + (first + c) * dim, INFINITY);
            to->weight += w;
            to->square += w * w;
            to->distance += w * ais_components_pull(mixture, distance) * distance;
        }
}

/* The weight of a component's previous size and, below, of its previous weight: in points. */
static const double usual = 30, usual_each = 5;

static void resize(work *this, int k) {
    ais_components *mixture = this->mixture;
    const share *of = &this->share[k];
    size_t dim = this->dim;
    double all = this->effective, before = usual_each * mixture->count;
    mixture->weight[k] = (all * of->weight + before * this->prior[k]) / (all + before);
    if (!(of->weight > 0)) return;
    double points = of->weight * of->weight / of->square, trust = points / (points + usual);
    double size = sqrt(trust * of->distance / of->weight / (double)dim + 1 - trust);
    for (size_t i = 0; i < dim * dim; i++) this->factor[i] = size * mixture->factor[(size_t)k * dim * dim + i];
    ais_context ignored;
    ais_components_set_factor(&ignored, mixture, k, mixture->mean + (size_t)k * dim, this->factor);
}

static void one_round(work *this, ais_pool *pool) {
    ais_components *mixture = this->mixture;
    memset(this->share, 0, (size_t)mixture->count * sizeof *this->share);
    for (size_t first = 0; first < this->n; first += AIS_BLOCK)
        add_rows(this, first, this->n - first < AIS_BLOCK ? this->n - first : AIS_BLOCK, pool);
    for (int k = 0; k < mixture->count; k++) resize(this, k);
    ais_components_weigh(mixture);
}

/* The logarithm of the mean of p / q over p, up to a constant: what an effective draw of q costs. */
static double cost(work *this, ais_pool *pool) {
    double top = -INFINITY, sum = 0;
    for (size_t first = 0; first < this->n; first += AIS_BLOCK) {
        size_t rows = this->n - first < AIS_BLOCK ? this->n - first : AIS_BLOCK;
        ais_components_logq(this->mixture, rows, this->x + first * this->dim, this->logq, NULL, pool);
        for (size_t c = 0; c < rows; c++) {
            if (!(this->chance[first + c] > 0)) continue;
            double term = log(this->chance[first + c]) + this->logp[first + c] - this->logq[c];
            sum = term > top ? sum * exp(top - term) + 1 : sum + exp(term - top);
            top = fmax(top, term);
        }
    }
    return sum > 0 ? top + log(sum) : INFINITY;
}

/* Heavy tails only as far as the points ask for them: a normal is worth more draws where it does. */
static void choose_freedom(work *this, ais_pool *pool) {
    static const double known[] = {1, 2, 3, 5, 10, 30, 100};
    double best = 5, least = INFINITY;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        this->mixture->freedom = known[k];
        ais_components_weigh(this->mixture);
        double value = cost(this, pool);
        if (value < least) best = known[k];
        least = fmin(value, least);
    }
    this->mixture->freedom = best;
    ais_components_weigh(this->mixture);
}

ais_status ais_mixture_fit(ais_context *context, ais_components *mixture, ais_pool *pool, size_t n, const double *x,
                           const double *logp, const double *log_weight) {
    work this = {.mixture = mixture, .n = n, .dim = (size_t)mixture->dim, .x = x, .logp = logp};
    ais_status status = take(&this) ? AIS_OK : ais_fail_memory(context, "a mixture", n * sizeof(double));
    double top = -INFINITY, sum = 0, squares = 0;
    for (size_t c = 0; c < n; c++) top = fmax(top, log_weight[c]);
    for (size_t c = 0; c < n && status == AIS_OK; c++) sum += this.chance[c] = exp(log_weight[c] - top);
    for (size_t c = 0; c < n && status == AIS_OK; c++) {
        this.chance[c] /= sum;
        squares += this.chance[c] * this.chance[c];
    }
    this.effective = 1 / squares;
    if (status == AIS_OK && sum > 0) choose_freedom(&this, pool); /* sizes depend on it */
    for (int round = 0; round < ROUNDS && status == AIS_OK && sum > 0; round++) one_round(&this, pool);
    ais_arena_free(&this.arena);
    return status;
}
