"""Learn the kernel: weigh the prior's frequencies by how well their cosines agree with the labels (PBRFF, OKRFF)."""

from dataclasses import replace
from functools import partial

from pages.kernel.learn import compute, view
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls import scales
from pages.shared.controls.own_points import POINTS
from pages.shared.controls.toy import BETA, DATA_OR_OWN, NOISE_OR_COPIES, NUMBER_SAMPLED, SEED, SIGMA_LIVE, toy_data
from pages.shared.controls.widgets import Number, Scale, mount, show_rest
from pages.shared.figures import paths
from pages.shared.live import own_points as canvas
from pages.shared.server import workers
from pages.shared.server.cache import cache_results
from rff_engine.plots import learning

known = "candidates", "posterior_path", "error_curve", "feature_error_path"
cache_results(compute, *known, parts_in_workers=["errors_of_weights"])  # a worker would draw candidates each time
cache_results(view, "packed_draws")

TEMPERATURE = replace(BETA, default=10.0)
RADIUS = Scale(
    "rho",
    "Radius of OKRFF, ρ/N",
    "How far the optimized kernel may move from the prior, from hardly at all to any distance.",
    scales.powers(*scales.RHO),
    0.01,
)
WIDTH = replace(SIGMA_LIVE, default=0.251)
_STRETCHES = tuple(stretch for stretch in SIGMA_LIVE.values if 0.2 <= stretch < 3.2)
ELLIPSE = (
    Scale("along", "Prior stretched along its axis", "Above 1: faster frequencies along the axis.", _STRETCHES, 1.0),
    Scale("across", "Prior stretched across its axis", "Above 1: faster frequencies across it.", _STRETCHES, 1.0),
    Number("angle", "Angle of the prior's axis, degrees", "From the horizontal, counterclockwise.", 0, 179, 0, 1),
)

CONTROLS = (
    "Learning",
    TEMPERATURE,
    RADIUS,
    Number("mu", "Order μ of the divergence", "2 is the chi-square divergence.", 1.1, 5.0, 2.0, 0.1),
    Scale("D", "Features drawn: frequencies D", None, compute.CURVE_COUNTS, 10),
    "Prior",
    WIDTH,
    *ELLIPSE,
    Scale("N", "Candidates N", "Frequencies drawn from the prior.", (50, 100, 200, 500, 1000, 2000, 5000), 2000),
    "Data",
    replace(DATA_OR_OWN, default="checkerboard"),
    NOISE_OR_COPIES,
    NUMBER_SAMPLED,
    SEED,
)

HANDLES = (
    "The white circle is one standard deviation of the prior; its ends stretch and turn it, by keyboard too, and the "
    "candidates move with it. "
)

POSTERIOR_EQUATION = (
    "alignment loss and pseudo-posterior",
    r"\widehat L_S(\omega) = \frac{1}{n(n-1)} \sum_{i\neq j} \frac{1 - "
    r"\lambda_{ij}\cos\big(\omega\cdot(x_i-x_j)\big)}{2}, \qquad Q(\omega) \propto p(\omega)\, e^{-\beta\sqrt "
    r"n\,\widehat L_S(\omega)}",
    "$\\lambda_{ij}$ is $+1$ for two points of one class and $-1$ otherwise. With labels $\\pm 1$ the loss is a "
    "constant minus $\\big|\\sum_j y_j e^{i\\omega\\cdot x_j}\\big|^2 / (2n(n-1))$, the power spectrum of the "
    "labelled points (Letarte, Morvant and Germain, 2019, Equations 9 and 19, Proposition 8).",
)

OKRFF_EQUATION = (
    "optimized kernel",
    r"\max_{Q} \sum_{m=1}^{N} Q_m \sum_{i,j} \lambda_{ij} \cos\big(\omega_m\cdot(x_i - x_j)\big)"
    r"\quad\text{subject to}\quad D_\mu(Q\,\|\,P) = \frac1N\sum_{m=1}^N (N Q_m)^\mu - 1 \le \rho",
    "Sinha and Duchi (2016), as compared in Letarte, Morvant and Germain (2019), Equations 17 and 18. PBRFF "
    "instead trades the loss against $\\mathrm{KL}(Q\\|P)$. The effective number of frequencies is $1/\\sum_m "
    "Q_m^2$: $N$ for the prior, 1 when one candidate has all weight.",
)


def show_live(values, settings: compute.CandidateSettings) -> None:
    """Show the live view; its own sliders replace controls of the row."""
    # Another prior stretches the same draws, another noise moves the same points: the view needs no server.
    sliders = (TEMPERATURE, RADIUS, WIDTH, *ELLIPSE)
    sliders += () if settings.data.points else (NOISE_OR_COPIES,)
    live.mount("kernel", view.drawn_kernel(settings) | {"mu": values.mu}, values, sliders)


def show_errors(values, settings: compute.CandidateSettings) -> None:
    """Show the test error against D, for each distribution of frequencies."""
    compared = compute.weightings(values.beta, values.rho, values.mu)
    curves = workers.results(
        {method: partial(compute.error_curve, settings, weighting) for method, weighting in compared.items()}
    )
    layout.figure(
        learning.error_curves(compute.CURVE_COUNTS, curves, values.D, error_name=settings.data.test_error),
        "**Compare the curves at few features: does learning help there?**",
        f"A linear SVM on [[D]] frequencies drawn from each distribution, tested on {settings.data.fresh_points}: mean "
        f"of {compute.CURVE_DRAWS} draws, with the 95 % interval of the mean; the large markers are at the current D. "
        "With many features, a prior that covers the right frequencies catches up, and weights that are too "
        "concentrated stop improving.",
        key="errors",
        alt="Test error against the number of frequencies for RFF, PBRFF and OKRFF",
    )


def show_path(values, settings: compute.CandidateSettings) -> None:
    """Show the test error, the bound and the KL divergence against β."""
    path = compute.posterior_path(settings)
    error, margin = compute.mean_and_margin(compute.feature_error_path(settings, values.D))
    name = f"{settings.data.test_error} of PBRFF at D = {values.D}"
    layout.figure(
        paths.errors_and_kl(
            values.beta,
            {name: paths.ErrorPath(compute.ERROR_BETAS, error, margin)},
            path.betas,
            path.kl,
            bound=path.bound,
        ),
        layout.lowest_error(compute.ERROR_BETAS, error, path.betas, path.bound),
        "Can a bound choose β? Results for every [[β]]; dotted: yours. Above, the error of D features of PBRFF; "
        "between, the PAC-Bayes-kl bound on the alignment loss over pairs, which with probability 95 % holds for every "
        "β at once, if the prior was fixed before looking at labels; below, the [[KL]] divergence: how far the weights "
        "have moved from the prior, at most ln N. Too small a β learns nothing, too large a β puts all weight on one "
        "cosine.",
        key="along_beta",
        alt="Test error of PBRFF, a bound and KL divergence against beta, with a line at the current beta",
    )


def candidate_settings(values) -> compute.CandidateSettings:
    """Return the settings of the page's controls."""
    ellipse = values.along, values.across, values.angle
    return compute.CandidateSettings(toy_data(values), values.sigma, values.N, ellipse)


def show(values) -> None:
    """Show what follows the controls."""
    with layout.show_errors():
        settings = candidate_settings(values)
        with canvas.beside(values.points):
            show_live(values, settings)
    layout.caption_below(
        "**Weights choose only among what was drawn: turn the prior away from a bright spot, and its wave is lost.**",
        f"{HANDLES}The kernel of a prior that is a circle depends on distance alone; the "
        "learned kernels repeat the pattern of the classes. Planes: the loss of every frequency (bright is low), and "
        "the posterior density. Folded: the prior, and the "
        f"{values.N} candidates drawn from it; the area of a dot is its weight. A kernel is the similarity of two "
        "points whose difference is δ. At a large β the learned kernels become a single wave."
        + layout.equation(*POSTERIOR_EQUATION)
        + layout.equation(*OKRFF_EQUATION),
    )
    deferred.show("errors", lambda: show_errors(values, settings))
    deferred.show("path", lambda: show_path(values, settings))
    sharing.offer(
        "learn_kernel",
        CONTROLS,
        values,
        lambda: compute.numbers(settings, values.beta, values.rho, values.mu, values.D),
        {"n": settings.data.n},
        {POINTS.key: values.points} if values.points else {},
    )


def main() -> None:
    tour = lessons.Tour("learn_kernel", CONTROLS)
    mount(CONTROLS, tour, parameters=(POINTS,), first=("data",))
    layout.title(
        "Some waves are large within a class and small between classes. Drag **[[β]]**: how much the labels count when "
        "the [[prior]] turns into a learned kernel. **PBRFF** and **OKRFF** do it.",
    )
    tour.show_card()
    show_rest(show)


if __name__ == "__main__":
    main()
