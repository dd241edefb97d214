// health.js - the master itself, its reactor, and the processes that store events elsewhere.
import { runner } from './api.js';
import { count, h, lasting, many, note, pairs, problem } from './ui.js';

const sign = (well, word) => h('span', { class: `mark ${well === null ? 'dim' : well ? 'ok' : 'bad'}` }, h('span', { 'aria-hidden': 'true' }, well === null ? '○' : well ? '●' : '✕'), h('span', { class: 'word' }, word));
const card = (title, state, ...content) => h('article', { class: 'card' }, h('header', null, h('h2', null, title), state), ...content);
const uptime = (ms) => (ms < 3600000 ? lasting(ms) : ms < 86400000 ? `${Math.floor(ms / 3600000)} h` : many(Math.floor(ms / 86400000), 'day'));
const figure = (name, value, kind) => h('div', { class: 'figure' }, h('b', { class: kind ?? '' }, value), h('span', null, name));

function reactors(list) {
    if (!Array.isArray(list))
        return h('p', { class: 'dim' }, String(list));
    if (list.length === 0)
        return h('p', { class: 'dim' }, 'It reacts to nothing: the option reactor is empty.');
    return h('table', null, h('thead', null, h('tr', null, h('th', null, 'Event'), h('th', null, 'Files'))), h('tbody', null, list.flatMap((entry) => Object.entries(entry)).map(([tag, files]) => h('tr', null, h('td', { class: 'mono' }, tag), h('td', { class: 'mono' }, [files].flat().map((file) => h('div', null, typeof file === 'string' ? file : JSON.stringify(file))))))));
}
function process([name, one]) {
    const why = one.error ?? one.why ?? one.failing;
    const well = why ? false : one.pid ? true : null;
    return h('div', { class: 'follower' }, h('h3', null, sign(well, name)),
        pairs([['Behind', one.behind !== undefined ? many(one.behind, 'event') : ''], ['Last event', one.seq !== undefined ? count(one.seq) : ''], ['Process', one.pid || 'none'], ['Started', one.starts !== undefined ? many(one.starts, 'time') : ''], ['Why', why]]));
}

export const health = {
    name: 'health', title: 'Health', key: '6',
    show(box) {
        const body = h('div', { class: 'cards' }, note('Asking the master …'));
        async function load() {
            let found;
            try {
                found = await runner('overview.health');
            } catch (failure) {
                if (failure.kind === 'session')
                    throw failure;
                body.replaceChildren(problem(failure));
                return;
            }
            const { status, reactors: list } = found, reactor = status.reactor ?? {}, followers = Object.entries(status.followers ?? {}), engines = Object.entries(status.engines ?? {});
            const behind = Number.isInteger(reactor.seq) ? Math.max(0, status.seq - reactor.seq) : 0;
            body.replaceChildren(
                card('Master', sign(true, 'works'),
                    h('div', { class: 'figures-row' }, figure('connections', count(status.connections)), figure('accepted keys', count(status.accepted)), figure('jobs under way', count(status.active_jobs)), figure('events', count(status.seq))),
                    pairs([['Version', `${status.halite} (speaks as Salt ${status.version})`], ['Up for', uptime(status.uptime_ms)], ['Process', status.pid]]),
                    h('details', null, h('summary', null, 'Counters since its start'), pairs(Object.entries(status.counters ?? {}).map(([name, n]) => [name.replaceAll('_', ' '), count(n)])))),
                card('Reactor', reactor.leader === false ? sign(null, 'not the leader') : Array.isArray(list) && list.length ? sign(true, 'reacts') : sign(null, 'nothing to react to'),
                    h('div', { class: 'figures-row' }, figure('waiting', count(reactor.waiting)), figure('under way', count(reactor.under_way)), figure('begun', count(reactor.begun)), figure('failed', count(reactor.failed), reactor.failed ? 'bad' : '')),
                    Array.isArray(list) && list.length ? h('p', { class: behind > 1000 ? 'warn' : 'dim' }, `It has looked at events up to ${count(reactor.seq)} of ${count(status.seq)}.`) : null, reactors(list)),
                card('Followers', followers.length === 0 ? sign(null, 'none') : sign(followers.every(([, one]) => one.pid && !one.error), many(followers.length, 'process', 'processes')),
                    followers.length ? followers.map(process) : h('p', { class: 'dim' }, 'Nothing is stored elsewhere: event_return and master_job_cache name no database.')),
                engines.length ? card('Engines', sign(engines.every(([, one]) => one.pid), many(engines.length, 'process', 'processes')), engines.map(process)) : '');
        }
        box.append(h('div', { class: 'bar' }, h('h1', { id: 'title' }, 'Health')), body);
        load();
        const timer = setInterval(load, 5000);
        return () => clearInterval(timer);
    },
};
