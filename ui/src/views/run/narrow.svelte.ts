// True while the page is too narrow for tables. Lists are then shown instead of tables.

const query = matchMedia("(max-width: 46rem)");

export const narrow = $state({ is: query.matches });

query.addEventListener("change", () => {
  narrow.is = query.matches;
});
