// Effects of coaching in eight schools. Schools are not centred, and tau has its prior, half_cauchy(5), as the quantile
// at Phi(z): all that is sampled is normal before the data, and no tail is long. With `real<lower=0> tau` and
// `tau ~ cauchy(0, 5)` it is the same model, but log(tau) has a tail towards -infinity that no map proposes, and
// aisampler says that it would not trust such draws.
data {
  int<lower=0> J;
  vector[J] y;
  vector<lower=0>[J] sigma;
}
parameters {
  real mu;
  real z;
  vector[J] eta;
}
transformed parameters {
  real<lower=0> tau = 5 * tan(0.5 * pi() * Phi(z));
  vector[J] theta = mu + tau * eta;
}
model {
  mu ~ normal(0, 5);
  z ~ std_normal();
  eta ~ std_normal();
  y ~ normal(theta, sigma);
}
generated quantities {
  vector[J] log_lik;
  array[J] real y_rep = normal_rng(theta, sigma);
  int<lower=0, upper=1> best = theta[1] >= max(theta);
  for (j in 1 : J) log_lik[j] = normal_lpdf(y[j] | theta[j], sigma[j]);
}
