// ui.js - elements, words and times. All that comes from the master becomes text nodes: no view makes markup of a text.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
    for (const [name, value] of Object.entries(props ?? {})) {
        if (value === undefined || value === null || value === false)
            continue;
        if (name.startsWith('on'))
            node.addEventListener(name.slice(2), value);
        else
            node.setAttribute(name, value === true ? '' : String(value));
    }
    node.append(...children.flat(2).filter((one) => one !== null && one !== undefined && one !== false));
    return node;
}
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

// Children in place of those there are.
export const put = (node, ...children) => node.replaceChildren(...children.flat(2).filter((one) => one !== null && one !== undefined && one !== false && one !== ''));

// Drawn here, as fonts lack signs.
const icons = {
    fleet: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01', jobs: 'M7 5h10M7 10h10M7 15h10M3 5h.01M3 10h.01M3 15h.01', states: 'M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z',
    runs: 'M2.5 8h4v4h-4zM13.5 2.5h4v4h-4zM13.5 13.5h4v4h-4zM6.5 10H10M13.5 4.5H10v11h3.5', events: 'M2 10h4l2.5-6 3.5 12 2.5-6H18', health: 'M10 16.5 3.6 10a3.9 3.9 0 0 1 0-5.5 3.8 3.8 0 0 1 5.4 0l1 1 1-1a3.8 3.8 0 0 1 5.4 0 3.9 3.9 0 0 1 0 5.5z',
    leave: 'M10 2.5V10M6 4.6a7 7 0 1 0 8 0',
};
export const icon = (name) => svg('svg', { class: 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, svg('path', { d: icons[name] }));

// ---- marks: each has a sign of its own beside its colour ------------------------------------------

export const MARKS = {
    up: ['●', 'ok', 'up'], down: ['○', 'dim', 'down'], pending: ['◐', 'warn', 'pending'], rejected: ['⊘', 'bad', 'rejected'],
    returned: ['✓', 'ok', 'returned'], failed: ['✕', 'bad', 'failed'], silent: ['?', 'warn', 'silent'], running: ['▸', 'info', 'running'],
    o: ['·', 'ok', 'nothing to do'], c: ['+', 'info', 'changed'], x: ['△', 'warn', 'would change'], f: ['✕', 'bad', 'failed'],
    s: ['–', 'dim', 'not run'], '.': [' ', 'none', 'not among its states'],
};
export function mark(name, withWord = false) {
    const [sign, kind, word] = MARKS[name] ?? ['?', 'warn', name];
    return h('span', { class: `mark ${kind}`, title: word }, h('span', { 'aria-hidden': 'true' }, sign),
        h('span', { class: withWord ? 'word' : 'unseen' }, word));
}

// ---- words and times --------------------------------------------------------------------------------

const numbers = new Intl.NumberFormat('en');
export const count = (n) => numbers.format(n ?? 0);
export const many = (n, one, more = one + 's') => `${count(n)} ${n === 1 ? one : more}`;

export function ago(ms) {
    const s = Math.max(0, (Date.now() - ms) / 1000);
    if (s < 60)
        return 'now';
    if (s < 3600)
        return `${Math.floor(s / 60)} min`;
    if (s < 86400)
        return `${Math.floor(s / 3600)} h`;
    return `${Math.floor(s / 86400)} d`;
}
const pad = (n) => String(n).padStart(2, '0');
export const clock = (ms) => {
    const d = new Date(ms);
    return `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
};
export const day = (ms) => {
    const d = new Date(ms);
    return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}`;
};
export const when = (ms) => `${day(ms)} ${clock(ms)}`;
// Short: the time of today, else the day too.
export const short = (ms) => (day(ms) === day(Date.now()) ? clock(ms) : `${day(ms).slice(5)} ${clock(ms).slice(0, 5)}`);
export function lasting(ms) {
    if (ms < 1000)
        return `${Math.round(ms)} ms`;
    if (ms < 60000)
        return `${(ms / 1000).toFixed(1)} s`;
    return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}
export const brief = (value, max = 160) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text === undefined ? '' : text.length > max ? text.slice(0, max - 1) + '…' : text;
};

// Words of a value that may be of any shape, as minions say what they like: a text as it is, a list's with commas.
export const wordsOf = (value, max = 2000) => (Array.isArray(value) ? value.map((one) => brief(one, max)).join(', ') : brief(value ?? '', max));

// A glob of Salt's kind, or a part of the text when there is no * or ? in it.
export function matcher(pattern) {
    const text = pattern.trim().toLowerCase();
    if (text === '')
        return () => true;
    if (!/[*?]/.test(text))
        return (value) => value.toLowerCase().includes(text);
    const rule = new RegExp('^' + text.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.') + '$', 's');
    return (value) => rule.test(value.toLowerCase());
}

// ---- parts that views share ---------------------------------------------------------------------------

export const note = (text, sub) => h('div', { class: 'empty' }, h('p', null, text), sub && h('p', { class: 'dim' }, sub));
export function problem(failure) {
    return h('div', { class: 'empty', role: failure.kind === 'denied' ? 'note' : 'alert' },
        h('p', null, h('span', { class: 'mark ' + (failure.kind === 'denied' ? 'warn' : 'bad'), 'aria-hidden': 'true' }, failure.kind === 'denied' ? '⊘ ' : '✕ '), failure.message));
}
export const field = (label, props) => h('input', { type: 'search', class: 'search', 'aria-label': label, placeholder: label, autocomplete: 'off', spellcheck: 'false', ...props });

// Buttons of which one is pressed. `options`: [value, label nodes...]
export function choice(label, options, chosen, onchoose) {
    const box = h('div', { class: 'choice', role: 'group', 'aria-label': label });
    const show = (value) => {
        for (const button of box.children)
            button.setAttribute('aria-pressed', String(button.dataset.value === value));
    };
    for (const [value, ...content] of options)
        box.append(h('button', { type: 'button', 'data-value': value, onclick: () => { show(value); onchoose(value); } }, ...content));
    show(chosen);
    box.show = show;
    return box;
}

// A panel over the right side, or the whole of a phone. Closed by Escape and its button; the focus goes back.
let open = null;
export function panel(title, ...content) {
    closePanel();
    const before = document.activeElement;
    const box = h('aside', { class: 'panel', role: 'dialog', 'aria-label': title, tabindex: '-1' },
        h('header', null, h('h2', null, title), h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => closePanel() }, '✕')),
        h('div', { class: 'panel-body' }, ...content));
    document.body.append(box);
    open = { box, before };
    box.focus();
    return box.querySelector('.panel-body');
}
export function closePanel() {
    if (!open)
        return false;
    const { box, before } = open;
    open = null;
    box.remove();
    if (before?.isConnected)
        before.focus();
    return true;
}

export const pairs = (rows) => h('dl', { class: 'pairs' }, rows.filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => [h('dt', null, name), h('dd', null, value instanceof Node ? value : brief(value, 4000))]));
export const json = (value) => h('pre', { class: 'json', tabindex: '0' }, typeof value === 'string' ? value : JSON.stringify(value, null, 2));

// Calls `fn` once things are quiet: at most every `ms`.
export function seldom(fn, ms) {
    let due = 0, last = 0;
    return () => {
        if (due)
            return;
        due = setTimeout(() => { due = 0; last = Date.now(); fn(); }, Math.max(150, last + ms - Date.now()));
    };
}
