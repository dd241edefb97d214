// returns.js - what one minion returned: states as rows, all else as it is.
import { brief, h, json, lasting, mark, pairs, wordsOf } from './ui.js';

// A state that another's failure kept from running says so in its comment alone.
export const letterOf = (ret) => (ret.result === false ? (ret.__state_ran__ === false || /^One or more requisite failed/.test(wordsOf(ret.comment)) ? 's' : 'f') : ret.result === null || ret.result === undefined ? 'x' : Object.keys(ret.changes ?? {}).length ? 'c' : 'o');
export const tagParts = (tag) => {
    const parts = tag.split('_|-');
    return parts.length < 4 ? null : { id: parts[1], name: parts.slice(2, -1).join('_|-'), fun: `${parts[0]}.${parts.at(-1)}` };
};
const isStates = (value) => value && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 0 && Object.entries(value).every(([tag, one]) => tagParts(tag) && one && typeof one === 'object');

// Lines of a difference with their colours, beside the sign that each has.
const lines = (text) => h('pre', { class: 'json', tabindex: '0' }, text.split('\n').map((line) => h('span', { class: /^\+/.test(line) ? 'ok' : /^-/.test(line) ? 'bad' : '' }, `${line}\n`)));
function changesOf(changes) {
    return Object.values(changes).every((value) => typeof value !== 'object')
        ? Object.entries(changes).map(([name, value]) => [h('span', { class: 'dim' }, name), lines(brief(value, 1e6))]) : json(changes);
}

export function stateCard(tag, ret) {
    const parts = tagParts(tag), changes = ret.changes && Object.keys(ret.changes).length ? ret.changes : null;
    return h('div', { class: 'state-card' }, h('div', { class: 'state-head' }, mark(letterOf(ret), true), h('b', null, brief(ret.__id__ ?? parts.id)), h('span', { class: 'dim mono' }, parts.fun)),
        pairs([['Name', ret.name !== (ret.__id__ ?? parts.id) ? ret.name : ''], ['SLS', ret.__sls__], ['Duration', ret.duration ? lasting(parseFloat(brief(ret.duration))) : '']]),
        h('p', { class: 'comment' }, brief(ret.comment ?? '', 4000)), changes ? changesOf(changes) : null);
}

export function returnOf(ret) {
    const value = ret.return;
    const head = pairs([['Exit code', ret.retcode]]);
    if (!isStates(value))
        return h('div', null, head, json(typeof value === 'string' ? value : value ?? null));
    const all = Object.entries(value).sort(([, a], [, b]) => (a.__run_num__ ?? 0) - (b.__run_num__ ?? 0));
    const sums = {};
    for (const [, one] of all)
        sums[letterOf(one)] = (sums[letterOf(one)] ?? 0) + 1;
    const notable = all.filter(([, one]) => letterOf(one) !== 'o'), quiet = all.filter(([, one]) => letterOf(one) === 'o');
    return h('div', null, head, h('p', { class: 'legend' }, Object.entries(sums).map(([letter, n]) => h('span', null, mark(letter, true), ` ${n}`))),
        notable.map(([tag, one]) => stateCard(tag, one)),
        quiet.length ? h('details', { open: notable.length === 0 }, h('summary', null, `${quiet.length} with nothing to do`), quiet.map(([tag, one]) => stateCard(tag, one))) : null);
}
