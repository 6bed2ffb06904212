// No parameters: nothing to draw from.
generated quantities {
  real z = normal_rng(0, 1);
}
