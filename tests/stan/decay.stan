// An ordinary differential equation: a substance passes from the gut to the blood and leaves it.
functions {
  vector flow(real t, vector amount, real absorb, real clear) {
    vector[2] change;
    change[1] = -absorb * amount[1];
    change[2] = absorb * amount[1] - clear * amount[2];
    return change;
  }
}
data {
  int<lower=1> T;
  array[T] real<lower=0> t;
  vector<lower=0>[T] y;
}
parameters {
  real<lower=0> absorb;
  real<lower=0> clear;
  real<lower=0> sigma;
}
model {
  array[T] vector[2] amount = ode_rk45(flow, [10, 0]', 0, t, absorb, clear);
  absorb ~ lognormal(0, 0.5);
  clear ~ lognormal(-1, 0.5);
  sigma ~ exponential(4);
  for (i in 1 : T) y[i] ~ lognormal(log(amount[i, 2]), sigma);
}
