"""Learn the kernel: weigh the prior's frequencies by how well their cosines agree with the labels (PBRFF, OKRFF)."""

from dataclasses import replace
from functools import partial

from pages.kernel.compute import FREQUENCY_COUNTS
from pages.kernel.learn import recipe
from pages.kernel.learn.results import (
    CURVE_COUNTS,
    CURVE_DRAWS,
    ERROR_BETAS,
    CandidateSettings,
    OptimizedKernel,
    PriorWeights,
    PseudoPosterior,
    Weighting,
    candidate_settings,
    candidate_weights,
    candidates,
    drawn_kernel,
    feature_error_path,
    feature_errors,
    feature_errors_at,
    live_kernel,
    posterior_path,
)
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls import own_points, scales
from pages.shared.controls.own_points import POINTS
from pages.shared.controls.toy import BETA, COST, DATA_OR_OWN, NOISE_OR_COPIES, NUMBER_SAMPLED, SEED, SIGMA_LIVE
from pages.shared.controls.widgets import Number, Scale, mount
from pages.shared.figures import paths
from pages.shared.live import own_points as canvas
from pages.shared.server import workers
from rff_engine.plots import learning
from rff_engine.studies.toy import learning as toy_learning

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
    Scale("D", "Features drawn: frequencies D", None, tuple(D for D in FREQUENCY_COUNTS if CURVE_COUNTS[-1] >= D), 10),
    "Prior",
    WIDTH,
    *ELLIPSE,
    Scale("N", "Candidates N", "Frequencies drawn from the prior.", (50, 100, 200, 500, 1000, 2000, 5000), 2000),
    "Data",
    replace(DATA_OR_OWN, default="checkerboard"),
    NOISE_OR_COPIES,
    NUMBER_SAMPLED,
    SEED,
    COST,
)

#: The order of the divergence for which the live view computes OKRFF by itself.
LIVE_ORDER = 2.0

HANDLES = (
    "The white circle is one standard deviation of the prior; its ends stretch and turn it, by keyboard too, and the "
    "candidates move with it. "
)

POSTERIOR_EQUATION = (
    "alignment loss and pseudo-posterior",
    r"\widehat L_S(\omega) = \frac{1}{n(n-1)} \sum_{i\neq j} "
    r"\frac{1 - \lambda_{ij}\cos\big(\omega\cdot(x_i-x_j)\big)}{2}, \qquad "
    r"Q(\omega) \propto p(\omega)\, e^{-\beta\sqrt n\,\widehat L_S(\omega)}",
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


def show_live(values, settings: CandidateSettings) -> None:
    """The live view; its own sliders replace those of the sidebar."""
    if values.mu == LIVE_ORDER:
        # Another prior stretches the same draws, another noise moves the same points: the view needs no server.
        packed, sliders = drawn_kernel(settings), (TEMPERATURE, RADIUS, WIDTH, *ELLIPSE)
        sliders += () if settings.data.points else (NOISE_OR_COPIES,)
    else:
        packed, sliders = live_kernel(settings, RADIUS.values, values.mu), (TEMPERATURE, RADIUS)
    live.mount("kernel", packed, values, sliders)


def show_errors(values, settings: CandidateSettings, weightings: dict[str, Weighting]) -> None:
    """The test error against D, for each distribution of frequencies."""
    along_D = errors_along(values, settings, weightings)
    curves = {method: toy_learning.mean_and_margin(errors) for method, errors in along_D.items()}
    at_chosen = {
        method: toy_learning.mean_and_margin(feature_errors_at(settings, weighting, values.C, values.D))
        for method, weighting in weightings.items()
    }
    layout.figure(
        learning.error_curves(CURVE_COUNTS, curves, values.D, at_chosen, error_name=settings.data.test_error),
        "**Compare the curves at few features: does learning help there?**",
        f"A linear SVM on [[D]] frequencies drawn from each distribution, tested on {settings.data.fresh_points}: mean "
        f"of {CURVE_DRAWS} draws, with the 95 % interval of the mean; the large markers are at the current D. With "
        "many features, a prior that covers the right frequencies catches up, and weights that are too concentrated "
        "stop improving.",
        key="errors",
        alt="Test error against the number of frequencies for RFF, PBRFF and OKRFF",
    )


def errors_along(values, settings: CandidateSettings, weightings: dict[str, Weighting]) -> dict:
    """The test errors of each distribution at every one of CURVE_COUNTS."""
    return workers.results(
        {
            method: partial(feature_errors, settings, weighting, values.C, CURVE_COUNTS)
            for method, weighting in weightings.items()
        }
    )


def error_path(values, settings: CandidateSettings):
    """The test errors of PBRFF at D frequencies, at every one of ERROR_BETAS."""
    return feature_error_path(settings, values.C, values.D)


def show_path(values, settings: CandidateSettings) -> None:
    """The test error, the bound and the KL divergence against β."""
    path = posterior_path(settings)
    error, margin = toy_learning.mean_and_margin(error_path(values, settings))
    layout.figure(
        paths.errors_and_kl(
            values.beta,
            {f"{settings.data.test_error} of PBRFF at D = {values.D}": paths.ErrorPath(ERROR_BETAS, error, margin)},
            path.betas,
            path.kl,
            bound=path.bound,
        ),
        layout.lowest_error(ERROR_BETAS, error, path.betas, path.bound),
        "Can a bound choose β? Results for every [[β]]; dotted: yours. Above, the error of D features of PBRFF; "
        "between, the PAC-Bayes-kl bound on the alignment loss over pairs, which with probability 95 % holds for every "
        "β at once, if the prior was fixed before looking at labels; below, the [[KL]] divergence: how far the weights "
        "have moved from the prior, at most ln N. Too small a β learns nothing, too large a β puts all weight on one "
        "cosine.",
        key="along_beta",
        alt="Test error of PBRFF, a bound and KL divergence against beta, with a line at the current beta",
    )


def numbers(values, settings: CandidateSettings, weightings: dict[str, Weighting]):
    """The table of the page, from the results that its figures show."""
    D_values = sorted({*CURVE_COUNTS, values.D})
    weights = {method: candidate_weights(settings, weighting) for method, weighting in weightings.items()}
    errors = {
        method: [feature_errors_at(settings, weighting, values.C, D) for D in D_values]
        for method, weighting in weightings.items()
    }
    along_beta = posterior_path(settings), (ERROR_BETAS, error_path(values, settings))
    return recipe.numbers(candidates(settings), weights, values.mu, D_values, errors, *along_beta)


def weightings_of(values) -> dict[str, Weighting]:
    """The distributions of frequencies that the page compares."""
    return {
        "rff": PriorWeights(),
        "pbrff": PseudoPosterior(values.beta),
        "okrff": OptimizedKernel(values.rho, values.mu),
    }


def main() -> None:
    tour = lessons.Tour("learn_kernel", CONTROLS)
    values = mount(CONTROLS, tour, parameters=(POINTS,))
    layout.title(
        "The [[prior]] weighs every frequency by the kernel's [[spectral density]]. **PBRFF** (PAC-Bayesian random "
        "Fourier features) and **OKRFF** (optimized kernel random Fourier features) use the labels and give more "
        "weight to cosines that are large within a class and small between classes. Drag **β** and **ρ** to see the "
        "prior turn into a learned kernel, and how much that helps with few features; **σ** is the prior's width.",
    )
    tour.show()
    with layout.show_errors():
        settings = candidate_settings(values)
        weightings = weightings_of(values)
        with canvas.beside(values.points):
            show_live(values, settings)
    layout.caption_below(
        "**Weights choose only among what was drawn: turn the prior away from a bright spot, and its wave is lost.**",
        f"{HANDLES}The kernel of a prior that is a circle depends on distance alone; the "
        "learned kernels repeat the pattern of the classes. "
        "[[Top|First]]: the prior density, the loss of every frequency (bright is low), and the posterior density. "
        f"[[Middle|Then]]: the {values.N} candidates drawn from the prior; the area of a dot is its weight. "
        "[[Bottom|Last]]: the similarity of two points whose difference is δ. At a large β the learned kernels become "
        "a single wave.",
    )
    layout.equation(*POSTERIOR_EQUATION)
    layout.equation(*OKRFF_EQUATION)
    deferred.show("errors", lambda: show_errors(values, settings, weightings))
    deferred.show("path", lambda: show_path(values, settings))
    link = {POINTS.key: values.points}
    sharing.offer(
        "learn_kernel",
        CONTROLS,
        values,
        lambda: numbers(values, settings, weightings),
        {"n": settings.data.n, **own_points.of_program(values.points)},
        {name: text for name, text in link.items() if text},
    )


if __name__ == "__main__":
    main()
