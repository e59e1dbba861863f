"""The benchmark of a class: its counts are compared with the choices, and a killed process loses none."""

import random
import shutil

import pytest
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import classroom
from benchmarks.tab import Tab
from tests import loops

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def test_a_tab_reads_the_data_of_a_component():
    tab = Tab("http://nowhere", "kernel", random.Random(0))
    tab.take(ForwardMsg(new_session={}))
    assert tab.component("lesson_card") is None and tab.lost
    shown = ForwardMsg()
    shown.metadata.delta_path.extend([0, 0])
    card = {"id": "$$ID-0-card", "component_name": "lesson_card", "json": '{"step": 2}'}
    shown.delta.new_element.CopyFrom(Element(bidi_component=card))
    tab.take(shown)
    assert tab.component("lesson_card") == ("$$ID-0-card", {"step": 2})


def test_a_lost_prediction_is_an_error(capsys):
    record = classroom.Record(pressed=[0.1], steps=[(1, 60, 0), (2, 60, 0)])
    assert classroom.show(record)
    assert "120 predictions in 2 steps, 0 of them lost" in capsys.readouterr().out
    record.steps[1] = (2, 60, 1)
    assert not classroom.show(record)
    record.steps[1] = (2, 60, 0)
    record.faults["KeyError: 'x'"] += 1
    assert not classroom.show(record) and "error, 1 times: KeyError: 'x'" in capsys.readouterr().out


@pytest.mark.skipif(NGINX is None, reason="no nginx on this machine")
@pytest.mark.second("starts two processes of the app and holds a lesson, in about 30 seconds")
def test_a_killed_process_loses_no_prediction():
    asked = classroom.parser().parse_args(["--students", "5", "--within", "1"])
    record = loops.apart(classroom.run, asked)
    assert record.steps == [(step, 5, 0) for step in range(1, len(classroom.LESSON.steps) + 1)]
    assert not record.faults and record.reopened and len(record.seen) == 5 * len(record.steps)
