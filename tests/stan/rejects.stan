// A density that rejects, and one that cannot be computed, beyond limits that chains reach.
parameters {
  real a;
  real b;
}
model {
  if (a > 1) reject("a is ", a, ", above 1");
  a ~ normal(0, 1);
  b ~ normal(0, 1);
  target += normal_lpdf(0 | 0, sqrt(4 - b));
}
