// The same mixture without an order: every answer exists twice, with the labels exchanged.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  vector[2] mu;
}
model {
  mu ~ normal(0, 4);
  for (n in 1 : N)
    target += log_mix(0.5, normal_lpdf(y[n] | mu[1], 1),
                      normal_lpdf(y[n] | mu[2], 1));
}
