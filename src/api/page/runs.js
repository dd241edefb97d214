// runs.js - orchestrations: those of the journal, and one as a graph that follows the run.
import { onEvent, runner, runnerText } from './api.js';
import { brief, count, h, lasting, many, note, pairs, panel, problem, put, seldom, svg, wordsOf } from './ui.js';

const words = { ok: ['✓', 'done'], bad: ['✕', 'failed'], info: ['▸', 'under way'], dim: ['○', 'not run'], warn: ['△', 'would change'] };
const kindOf = (result) => (result === true ? 'ok' : result === false ? 'bad' : result === 'under way' || result === 'running' ? 'info' : result === null ? 'warn' : 'dim');
const sign = (kind, word) => h('span', { class: `mark ${kind}` }, h('span', { 'aria-hidden': 'true' }, words[kind][0]), h('span', { class: 'word' }, word ?? words[kind][1]));
// The end of a step: one that another's failure kept from running says so in its comment.
const endOf = (step) => (step.Result === false && /^One or more requisite failed/.test(wordsOf(step.Comment)) ? 'not run' : step.Result);
const runWord = { true: 'done', false: 'failed', running: 'under way', unfinished: 'unfinished' };
const stamp = (text) => (text ? String(text).replace('T', ' ').slice(0, 19) : '');

// N of M minions of a step, over all its jobs.
function reach(step) {
    const jobs = Object.values(step.Jobs ?? {});
    let of = 0, back = 0, failed = 0;
    for (const job of jobs) {
        of += (job.Minions ?? []).length;
        back += job.Returned ?? 0;
        failed += job.Failed ?? 0;
    }
    return { of, back, failed };
}
const millis = (step) => (step.Duration ? parseFloat(step.Duration) : 0);

// Places: steps in layers by what they wait for, each near what it follows. A line that passes a layer has a place of its
// own there, so that it goes around the steps.
function place(plan, room) {
    const w = room < 480 ? 150 : 196, t = 62, thin = 22, layer = [], layers = [], lines = [], across = new Map();
    plan.forEach((step, i) => { layer[i] = step.needs.reduce((most, need) => Math.max(most, (layer[need.step] ?? 0) + 1), 0); });
    plan.forEach((step, i) => {
        const item = { step: i, from: [] };
        (layers[layer[i]] ??= []).push(item);
        for (const need of step.needs) {
            const line = { need, to: i, points: [] };
            let before = layers[layer[need.step]].find((one) => one.step === need.step);
            for (let l = layer[need.step] + 1; l < layer[i]; l++) {
                const passing = { line, from: [before] };
                (layers[l] ??= []).push(passing);
                line.points.push(passing);
                before = passing;
            }
            item.from.push(before);
            lines.push(line);
        }
    });
    const widest = Math.max(...layers.map((items) => items.filter((item) => item.step !== undefined).length));
    // From left to right where there is room for that, else downwards.
    const upright = layers.length * (w + 64) > room && (room < 720 || widest * (w + 18) <= room);
    const thick = (item) => (item.line ? thin : upright ? w + 18 : t + 20), along = upright ? t + 44 : w + 64;
    let wide = 0;
    for (const items of layers) {
        const want = (item) => (item.from.length ? item.from.reduce((sum, one) => sum + across.get(one), 0) / item.from.length : 0);
        items.sort((a, b) => want(a) - want(b));
        const sum = items.reduce((all, item) => all + thick(item), 0);
        let at = -sum / 2;
        for (const item of items) {
            across.set(item, at + thick(item) / 2);
            at += thick(item);
        }
        wide = Math.max(wide, sum);
    }
    const at = [], mid = (item, l) => (upright ? [wide / 2 + across.get(item), l * along + 6 + t / 2] : [l * along + 6 + w / 2, wide / 2 + across.get(item)]);
    layers.forEach((items, l) => items.forEach((item) => {
        const [x, y] = mid(item, l);
        if (item.line)
            item.at = upright ? [[x, y - t / 2], [x, y + t / 2]] : [[x - w / 2, y], [x + w / 2, y]];
        else
            at[item.step] = [x - w / 2, y - t / 2];
    }));
    const size = upright ? [wide + 12, layers.length * along - 32] : [layers.length * along - 52, wide + 12];
    return { at, w, t, upright, size, lines };
}

// A smooth line through the points.
function curve(points, upright) {
    let d = `M${points[0][0]} ${points[0][1]}`;
    for (let i = 1; i < points.length; i++) {
        const [ax, ay] = points[i - 1], [bx, by] = points[i], half = (upright ? by - ay : bx - ax) / 2;
        d += upright ? `C${ax} ${ay + half} ${bx} ${by - half} ${bx} ${by}` : `C${ax + half} ${ay} ${bx - half} ${by} ${bx} ${by}`;
    }
    return d;
}

function openStep(step) {
    const { of, back, failed } = reach(step);
    panel(step.ID, sign(kindOf(endOf(step))), pairs([['Function', step.Function], ['Name', step.Name !== step.ID ? step.Name : ''], ['Started', stamp(step.Started)], ['Ended', stamp(step.Ended)], ['Took', millis(step) ? lasting(millis(step)) : ''], ['Minions', of ? `${count(back)} of ${count(of)} returned${failed ? `, ${count(failed)} failed` : ''}` : '']]),
        step.Comment ? h('p', { class: 'comment' }, brief(step.Comment, 4000)) : null,
        Object.entries(step.Jobs ?? {}).map(([jid, job]) => h('p', null, h('a', { href: `#/jobs/${jid}` }, `${job.Function ?? 'job'} ${jid}`))));
}

function graph(steps, plan, room) {
    const { at, w, t, size, upright, lines } = place(plan, room), edges = [], nodes = [];
    const cut = (text, n) => (text.length > n ? text.slice(0, n - 1) + '…' : text);
    for (const { need, to, points } of lines) {
        const [ax, ay] = at[need.step], [bx, by] = at[to];
        const all = upright ? [[ax + w / 2, ay + t], ...points.flatMap((one) => one.at), [bx + w / 2, by]] : [[ax + w, ay + t / 2], ...points.flatMap((one) => one.at), [bx, by + t / 2]];
        edges.push(svg('path', { d: curve(all, upright), class: `edge ${need.why ? '' : 'order'} ${need.critical ? 'critical' : ''}` }, svg('title', null, need.why ?? 'order')));
    }
    steps.forEach((step, i) => {
        const kind = kindOf(endOf(step)), [x, y] = at[i], { of, back, failed } = reach(step);
        const figures = [of ? `${count(back)} of ${count(of)}${failed ? `, ${count(failed)} failed` : ''}` : '', millis(step) ? lasting(millis(step)) : ''].filter(Boolean).join(' · ');
        const node = svg('g', { class: `step ${kind} ${plan[i].critical ? 'critical' : ''}`, tabindex: '0', role: 'button', transform: `translate(${x} ${y})`, 'data-step': i,
            'aria-label': `${step.ID}, ${step.Function}, ${words[kind][1]}${figures ? `, ${figures}` : ''}${plan[i].critical ? ', on the critical path' : ''}`, onclick: () => openStep(step),
            onkeydown: (event) => {
                if (event.key === 'Enter' || event.key === ' ')
                    openStep(step);
                else if (/^Arrow(Right|Down)$/.test(event.key))
                    nodes[Math.min(nodes.length - 1, i + 1)].focus();
                else if (/^Arrow(Left|Up)$/.test(event.key))
                    nodes[Math.max(0, i - 1)].focus();
                else
                    return;
                event.preventDefault();
            } },
        svg('title', null, step.ID), svg('rect', { width: w, height: t, rx: 9 }), svg('text', { x: 14, y: 25, class: 'sign' }, words[kind][0]),
        svg('text', { x: 32, y: 25, class: 'id' }, cut(step.ID, w < 190 ? 14 : 21)), svg('text', { x: 32, y: 44, class: 'what' }, cut(figures || step.Function, w < 190 ? 19 : 26)));
        if (of && kind === 'info')
            node.append(svg('rect', { x: 10, y: t - 8, width: w - 20, height: 3, rx: 1.5, class: 'track' }), svg('rect', { x: 10, y: t - 8, width: (w - 20) * (back / of), height: 3, rx: 1.5, class: 'done' }));
        nodes.push(node);
    });
    return svg('svg', { class: 'graph', width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}`, role: 'group', 'aria-label': 'Steps and what they wait for' }, edges, nodes);
}

export const runs = {
    name: 'runs', title: 'Orchestrations', brief: 'Runs', key: '4',
    show(box, [wanted]) {
        let all = {}, run = wanted, live = false, plan = null, planned = '';
        box.classList.toggle('has-run', Boolean(wanted));
        const list = h('nav', { class: 'side-list', 'aria-label': 'Runs, the newest first' }, note('Asking the master …')), one = h('div', { class: 'one' });
        async function loadList() {
            try {
                all = await runner('orchestrate.list', { limit: 100 });
            } catch (failure) {
                if (failure.kind === 'session')
                    throw failure;
                list.replaceChildren(problem(failure));
                return;
            }
            const names = Object.keys(all).sort().reverse();
            if (names.length === 0) {
                box.classList.add('none');
                list.replaceChildren(note('No orchestration is in the journal.', 'One that salt-run state.orchestrate begins appears here, step by step.'));
                return;
            }
            box.classList.remove('none');
            run ??= names[0];
            list.replaceChildren(...names.map((name) => h('a', { href: `#/runs/${name}`, 'aria-current': name === run ? 'true' : null },
                h('b', null, [all[name].Mods].flat().join(', ') || 'orchestration'), sign(kindOf(all[name].Result), runWord[String(all[name].Result)]), h('span', { class: 'dim' }, stamp(all[name].Start)))));
            if (!planned)
                loadOne();
        }
        async function loadOne() {
            let shown;
            try {
                shown = await runner('orchestrate.show', { run });
                if (planned !== `${run} ${shown.Result}`) {
                    plan = JSON.parse(await runnerText('orchestrate.graph', { what: run, format: 'json' }));
                    planned = `${run} ${shown.Result}`;
                }
            } catch (failure) {
                if (failure.kind === 'session')
                    throw failure;
                one.replaceChildren(problem(failure));
                return;
            }
            live = shown.Result === 'running';
            const steps = shown.Steps, failed = steps.filter((step) => endOf(step) === false).length, left = steps.filter((step) => endOf(step) === 'not run').length;
            const sums = ['ok', 'bad', 'info', 'dim'].map((kind) => [kind, steps.filter((step) => kindOf(endOf(step)) === kind).length]).filter(([, n]) => n);
            const focused = one.querySelector('.step:focus')?.dataset.step;
            const scrolled = one.querySelector('.graph-box');
            const [left0, top0] = scrolled ? [scrolled.scrollLeft, scrolled.scrollTop] : [0, 0];
            const graphBox = h('div', { class: 'graph-box' }, steps.length && plan.length === steps.length ? graph(steps, plan, one.clientWidth - 50) : note('It has no steps.'));
            put(one, h('div', { class: 'run-head' }, h('h2', null, [shown.Mods].flat().join(', ') || 'orchestration'), sign(kindOf(shown.Result), runWord[String(shown.Result)]), h('span', { class: 'dim' }, `${stamp(shown.Start)}${shown.End ? ` – ${stamp(shown.End).slice(11)}` : ''}`)),
                h('p', { class: 'legend', role: 'status' }, sums.map(([kind, n]) => h('span', null, sign(kind), ` ${count(n)}`)), h('span', { class: 'dim' }, 'thick: the critical path')),
                shown.Stopped ? h('p', { class: 'hint' }, brief(shown.Stopped)) : null, graphBox,
                h('details', null, h('summary', null, `${many(steps.length, 'step')} as a table${failed ? `: ${count(failed)} failed, ${count(left)} not run` : ''}`), h('table', null, h('thead', null, h('tr', null, ['Result', 'Step', 'Function', 'Minions', 'Took'].map((word) => h('th', null, word)))),
                    h('tbody', null, steps.map((step) => { const { of, back } = reach(step); return h('tr', null, h('td', null, sign(kindOf(endOf(step)))), h('td', null, h('button', { type: 'button', class: 'link', onclick: () => openStep(step) }, step.ID)), h('td', { class: 'mono' }, step.Function), h('td', null, of ? `${count(back)} of ${count(of)}` : '–'), h('td', null, millis(step) ? lasting(millis(step)) : '–')); })))));
            [graphBox.scrollLeft, graphBox.scrollTop] = [left0, top0];
            if (focused !== undefined)
                one.querySelector(`[data-step="${focused}"]`)?.focus();
        }
        box.append(h('div', { class: 'bar' }, h('a', { href: '#/runs', class: 'back' }, '← All'), h('h1', { id: 'title' }, 'Orchestrations')), h('div', { class: 'split' }, list, one));
        loadList();
        const soon = seldom(() => { loadList(); if (planned) loadOne(); }, 1500), timer = setInterval(() => { if (live) loadOne(); }, 2000), slow = setInterval(loadList, 30000);
        const off = onEvent(({ tag, data }) => { if (/^salt\/run\/\d+\/(new|ret)/.test(tag) && /orchestrate$|state\.orch$|state\.sls$/.test(wordsOf(data?.fun)) || (live && /^salt\/job\/\d+\/(new|ret)/.test(tag))) soon(); });
        return () => { clearInterval(timer); clearInterval(slow); off(); };
    },
};
