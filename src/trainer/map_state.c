/* The state of a map's learning in its checkpoint. It is written from within fits alone, between two rounds of steps:
 * the archive stays as it is there, and what the fit itself has reached is in the loop's own section behind this one.
 */
#include <limits.h>
#include <math.h>

#include "base/clock.h"
#include "checkpoint/components.h"
#include "learned/learned.h"
#include "learned/mixture.h"
#include "trainer/map_learning.h"

/* An independent proposal of the target's dimension, or NULL: all else has no density to weigh by. */
static void exchange_map(ais_checkpoint *checkpoint, const char *field, int dim, ais_kernel **kernel) {
    ais_checkpoint_kernel(checkpoint, field, kernel);
    if (!*kernel) return;
    const ais_learned *learned = ais_as_learned(*kernel);
    if (!learned || learned->shape.dim != dim || !ais_is_independent(learned) || learned->angles.count)
        ais_checkpoint_refuse(checkpoint, field);
}

static void exchange_costs(ais_checkpoint *checkpoint, ais_map_learning *this) {
    ais_evaluator *evaluator = &this->evaluator;
    ais_economy *economy = &this->economy;
    ais_checkpoint_count(checkpoint, "densities", &evaluator->densities, ais_most_count);
    ais_checkpoint_count(checkpoint, "gradients", &evaluator->gradients, ais_most_count);
    bool differences = evaluator->price > 0;
    ais_checkpoint_flag(checkpoint, "differences", &differences);
    if (differences && this->job->target->grad) ais_checkpoint_refuse(checkpoint, "differences");
    if (differences && ais_checkpoint_reads(checkpoint)) ais_map_take_differences(this);
    ais_checkpoint_numbers(checkpoint, "cost.density", &economy->density, 1);
    ais_checkpoint_numbers(checkpoint, "cost.gradient", &economy->gradient, 1);
    ais_checkpoint_numbers(checkpoint, "cost.arithmetic", &economy->arithmetic, 1);
}

/* A source is a map, the search region, a box, or a mixture, which may have a box too. */
static void exchange_source(ais_checkpoint *checkpoint, ais_map_learning *this, int number) {
    ais_source *source = &this->archive.source[number];
    ais_kernel **map = &this->snapshot[number];
    ais_components empty = {0}, *mixture = source->mixture ? (ais_components *)source->mixture : &empty;
    bool reads = ais_checkpoint_reads(checkpoint), boxed = source->box.low;
    double scale = source->scale, width = source->width;
    ais_box box = source->box;
    size_t dim = (size_t)this->archive.dim;
    ais_checkpoint_flag(checkpoint, "source.boxed", &boxed);
    if (reads) mixture = AIS_TAKE(&this->arena, ais_components, 1);
    if (reads && boxed) box = (ais_box){AIS_TAKE(&this->arena, double, dim), AIS_TAKE(&this->arena, double, dim)};
    if (!mixture || (boxed && !(box.low && box.high))) {
        ais_checkpoint_refuse(checkpoint, "source.mixture");
        return;
    }
    if (boxed) ais_checkpoint_numbers(checkpoint, "source.low", box.low, dim);
    if (boxed) ais_checkpoint_numbers(checkpoint, "source.high", box.high, dim);
    ais_checkpoint_numbers(checkpoint, "source.scale", &scale, 1);
    ais_checkpoint_numbers(checkpoint, "source.width", &width, 1);
    exchange_map(checkpoint, "source.map", this->archive.dim, map);
    ais_components_exchange(checkpoint, "source.mixture", this->archive.dim, mixture, &this->arena);
    if (!reads) return;
    *source = (ais_source){.map = *map, .width = width};
    if (!(width >= 0)) ais_checkpoint_refuse(checkpoint, "source.width");
    for (size_t i = 0; i < dim && boxed; i++)
        if (!(box.low[i] < box.high[i])) ais_checkpoint_refuse(checkpoint, "source.high");
    if (boxed) source->box = box;
    if (!*map && scale > 0) source->scale = scale;
    if (!*map && !(scale > 0) && mixture->count) source->mixture = mixture;
    if (!*map && !(scale > 0) && !boxed && !mixture->count) ais_checkpoint_refuse(checkpoint, "source.scale");
}

static void exchange_points(ais_checkpoint *checkpoint, ais_map_learning *this) {
    ais_archive *archive = &this->archive;
    ais_components_exchange(checkpoint, "mixture", archive->dim, &this->mixture, &this->arena);
    ais_checkpoint_integer(checkpoint, "sources", &archive->sources, 0, AIS_MOST_SOURCES);
    for (int s = 0; s < archive->sources; s++) exchange_source(checkpoint, this, s);
    ais_archive_exchange(checkpoint, archive);
}

static void exchange_fit(ais_checkpoint *checkpoint, ais_map_learning *this) {
    ais_fit_plan *fit = &this->fit;
    ais_checkpoint_flag(checkpoint, "slopes", &this->slopes);
    ais_checkpoint_flag(checkpoint, "bent", &this->bent);
    ais_checkpoint_integer(checkpoint, "plan_number", &this->plan_number, 0, INT_MAX);
    ais_checkpoint_integer(checkpoint, "round", &this->round, 0, INT_MAX);
    ais_checkpoint_integer(checkpoint, "number", &fit->number, 0, INT_MAX);
    ais_checkpoint_flag(checkpoint, "new_map", &fit->new_map);
    AIS_FIELD(checkpoint, fit, steps);
    ais_checkpoint_numbers(checkpoint, "likelihood_share", &fit->likelihood_share, 1);
    AIS_FIELD(checkpoint, fit, draws);
    AIS_FIELD(checkpoint, this, batches);
    double spent = ais_processor_now() - this->fit_began;
    ais_checkpoint_bytes(checkpoint, "fit_seconds", &spent, sizeof spent);
    if (ais_checkpoint_reads(checkpoint)) this->fit_began = ais_processor_now() - spent;
    ais_checkpoint_flag(checkpoint, "fitting", &this->fitting);
    ais_checkpoint_flag(checkpoint, "fine", &this->fine);
    exchange_map(checkpoint, "present", this->archive.dim, &this->present);
    if (!ais_checkpoint_reads(checkpoint)) return;
    this->plan = ais_map_plan_for(this->archive.dim, this->slopes, this->plan_number);
    if (!this->plan) ais_checkpoint_refuse(checkpoint, "plan_number");
    if (this->slopes && !this->archive.gradient) ais_checkpoint_refuse(checkpoint, "slopes");
    if (fit->steps < 1) ais_checkpoint_refuse(checkpoint, "steps");
    if (!(fit->likelihood_share >= 0 && fit->likelihood_share <= 1))
        ais_checkpoint_refuse(checkpoint, "likelihood_share");
    if (fit->draws > this->archive.room) ais_checkpoint_refuse(checkpoint, "draws");
    if (!this->fitting) ais_checkpoint_refuse(checkpoint, "fitting");
    if (!this->present || !ais_as_learned(this->present)->weight_count) ais_checkpoint_refuse(checkpoint, "present");
}

static void exchange_verdicts(ais_checkpoint *checkpoint, ais_map_learning *this) {
    ais_checkpoint_kernel(checkpoint, "best", &this->best);
    const ais_learned *learned = this->best ? ais_as_learned(this->best) : NULL;
    bool fits = !this->best || (ais_kernel_dim(this->best) == this->archive.dim &&
                                (ais_as_mixture(this->best) || (learned && ais_is_independent(learned))));
    if (!fits) ais_checkpoint_refuse(checkpoint, "best");
    AIS_FIELD(checkpoint, this, verdict);
    ais_checkpoint_integer(checkpoint, "proposals", &this->proposals, 0, AIS_MOST_PROPOSALS);
    AIS_FIELD(checkpoint, this, evidence);
    AIS_FIELD(checkpoint, this, most_accepted);
    AIS_FIELD(checkpoint, this, share);
    AIS_FIELD(checkpoint, this, share_before);
    AIS_FIELD(checkpoint, this, waste);
    AIS_FIELD(checkpoint, this, open);
    AIS_FIELD(checkpoint, this, flaw_before);
    AIS_FIELD(checkpoint, this, judged_by);
    ais_checkpoint_integer(checkpoint, "vain", &this->vain, 0, INT_MAX);
}

static void exchange_space(ais_checkpoint *checkpoint, ais_map_learning *this) {
    ais_explored *explored = &this->explored;
    size_t dim = (size_t)this->archive.dim;
    ais_checkpoint_numbers(checkpoint, "scale", &this->scale, 1);
    ais_checkpoint_numbers(checkpoint, "mean", this->mean, dim);
    ais_checkpoint_numbers(checkpoint, "factor", this->factor, dim * dim);
    ais_checkpoint_flag(checkpoint, "explored.any", &explored->any);
    ais_checkpoint_integer(checkpoint, "explored.stretches", &explored->stretches, 0, INT_MAX);
    ais_checkpoint_numbers(checkpoint, "explored.step_size", &explored->step_size, 1);
    AIS_FIELD(checkpoint, explored, per_effective);
    ais_checkpoint_numbers(checkpoint, "explored.mean", explored->mean, dim);
    ais_checkpoint_numbers(checkpoint, "explored.factor", explored->factor, dim * dim);
    ais_checkpoint_numbers(checkpoint, "differences.step", this->differences.step, dim);
    ais_checkpoint_numbers(checkpoint, "chain", this->chain, AIS_EXPLORING * dim);
}

void ais_map_exchange(ais_checkpoint *checkpoint, void *data) {
    ais_map_learning *this = data;
    ais_training_run *job = this->job;
    ais_began_exchange(checkpoint, &job->began);
    ais_training_exchange(checkpoint, job->training);
    AIS_FIELD(checkpoint, job, best_ess);
    exchange_costs(checkpoint, this);
    exchange_points(checkpoint, this);
    exchange_fit(checkpoint, this);
    exchange_verdicts(checkpoint, this);
    exchange_space(checkpoint, this);
    if (ais_checkpoint_reads(checkpoint) && this->evaluator.deadline > 0)
        this->evaluator.deadline = job->began + job->options->seconds;
}
