"""Arguments of the commands that run nets."""

from __future__ import annotations

from pathlib import Path

from engine.cli.arguments.parsers import Commands, add_output, add_place, add_state, new_command
from engine.cli.arguments.values import count, database_kind, names, phase, seed, weights

__all__ = ["add_extract_features", "add_test", "add_time", "add_train"]

_EFFECTS = ("stop", "snapshot", "none")


def add_train(commands: Commands, summary: str) -> None:
    """Add ``train``."""
    parser = new_command(
        commands,
        "train",
        summary,
        "Train a net with a solver. Snapshots go where snapshot_prefix says, relative to the working "
        "directory. Interrupting (Ctrl-C) stops after the current iteration; doing it again ends at once.",
        examples=(
            "--solver lenet_solver.prototxt",
            "--solver lenet_solver.prototxt --snapshot lenet_iter_500.solverstate",
            "-solver finetune_solver.prototxt -weights bvlc_reference_caffenet.caffemodel",
        ),
        module="train",
    )
    parser.add_argument("--solver", type=Path, required=True, metavar="FILE", help="solver prototxt")
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--weights",
        type=weights,
        default=[],
        metavar="FILES",
        help="begin from these weights (comma-separated .caffemodel or .caffemodel.h5 files)",
    )
    start.add_argument("--snapshot", type=Path, metavar="FILE", help="go on from this .solverstate or .solverstate.h5")
    parser.add_argument("--seed", type=seed, metavar="N", help="stands for the solver's random_seed")
    parser.add_argument("--phase", type=phase, metavar="PHASE", help="may be given as to Caffe; not used in training")
    parser.add_argument(
        "--runs", type=Path, metavar="DIR", help="record the run in a new folder there (default: runs beside the net)"
    )
    parser.add_argument("--no-record", action="store_true", help="record no run")
    parser.add_argument("--sigint-effect", choices=_EFFECTS, default="stop", help="on Ctrl-C (default: stop)")
    parser.add_argument("--sighup-effect", choices=_EFFECTS, default="snapshot", help="on SIGHUP (default: snapshot)")
    add_state(parser)
    add_place(parser)
    add_output(parser)
    parser.set_defaults(always_bar=False, output_dir=None)


def add_test(commands: Commands, summary: str) -> None:
    """Add ``test``."""
    parser = new_command(
        commands,
        "test",
        summary,
        "Score a net's weights: run batches through it in phase TEST and print the mean of each output.",
        examples=(
            "--model lenet_train_test.prototxt --weights lenet_iter_1000.caffemodel --iterations 100",
            "-model net.prototxt -weights a.caffemodel,b.caffemodel --json",
        ),
        module="test",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="FILE", help="net prototxt")
    parser.add_argument(
        "--weights", type=weights, required=True, metavar="FILES", help="comma-separated .caffemodel files"
    )
    parser.add_argument("--iterations", type=count, default=50, metavar="N", help="batches to run (default: 50)")
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of what is random in testing, such as mirroring")
    parser.add_argument(
        "--phase", type=phase, default="test", metavar="TEST", help="may be given as to Caffe; scores are of phase TEST"
    )
    add_state(parser)
    add_place(parser)
    add_output(parser)


def add_time(commands: Commands, summary: str) -> None:
    """Add ``time``."""
    parser = new_command(
        commands,
        "time",
        summary,
        "Run a net forward and backward, and print how long each layer takes: mean and least over the iterations, "
        "in milliseconds. One pass each way is made first and not counted. Without a loss, or in phase TEST where no "
        "layer learns, there is no backward pass to time.",
        examples=(
            "--model lenet_train_test.prototxt",
            "-model deploy.prototxt -phase TEST -iterations 10 --json",
        ),
        module="time",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="FILE", help="net prototxt")
    parser.add_argument(
        "--weights", type=weights, default=[], metavar="FILES", help="run with these weights (comma-separated)"
    )
    parser.add_argument("--iterations", type=count, default=50, metavar="N", help="passes to time (default: 50)")
    parser.add_argument(
        "--phase", type=phase, default="train", metavar="PHASE", help="phase of the net: TRAIN or TEST (default: TRAIN)"
    )
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of fillers and of all that is random")
    add_state(parser)
    add_place(parser)
    add_output(parser)


def add_extract_features(commands: Commands, summary: str) -> None:
    """Add ``extract_features``."""
    parser = new_command(
        commands,
        "extract_features",
        summary,
        "Run batches through a net in phase TEST and write blobs of it to databases, one record for each item of a "
        "batch: float_data in a Datum of the blob's shape, under the keys 0000000000, 0000000001 and so on.",
        examples=(
            "lenet_iter_1000.caffemodel lenet_train_test.prototxt ip1 features_lmdb 10 lmdb",
            "net.caffemodel net.prototxt fc7,prob fc7_leveldb,prob_leveldb 10 leveldb CPU",
        ),
        module="extract_features",
    )
    parser.add_argument("weights", type=weights, metavar="WEIGHTS", help="comma-separated .caffemodel files")
    parser.add_argument("model", type=Path, metavar="NET", help="net prototxt with a data layer")
    parser.add_argument("blobs", type=names, metavar="BLOB[,BLOB2...]", help="blobs to write")
    parser.add_argument("databases", type=names, metavar="DB[,DB2...]", help="a new database for each blob")
    parser.add_argument("iterations", type=count, metavar="BATCHES", help="batches to run")
    parser.add_argument("backend", type=database_kind, metavar="KIND", help="lmdb or leveldb")
    parser.add_argument(
        "mode", nargs="?", choices=("CPU", "GPU"), default="CPU", help="where to compute (default: CPU)"
    )
    parser.add_argument("device", nargs="?", default="0", metavar="DEVICE", help="which GPU (default: 0)")
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of what is random, such as mirroring")
    add_state(parser)
    parser.add_argument("--threads", type=count, metavar="N", help="threads of matrix products")
    add_output(parser)
